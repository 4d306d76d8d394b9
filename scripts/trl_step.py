"""One step of TRL's GRPOTrainer on examples/trl_environment.py: `python trl_step.py [--speak]`.

Needs `pip install trl==1.16.0 openenv==0.10.0` and PyTorch, and the server at FORMS_URL that the example names. The
model is a random Qwen3 of 30,000 parameters on bytes, with TRL's own chat template of Qwen3; what it says is noise.
With --speak the words of a rollout are written here instead, token by token as the model would: what then parses the
calls, runs the tools, scores, masks and takes the step is TRL. Prints what became of each rollout as JSON.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
import trl
from trl import GRPOConfig, GRPOTrainer

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from trl_environment import FormEnvironment  # noqa: E402

TASK = {"split": "heldout", "index": 3}
VALUES = {"Guest Name": "Fatima Zimmer", "Visit Time": "Evening", "Book Number": "037284"}


def tool(name, **arguments):
    return f'<tool_call>\n{json.dumps({"name": name, "arguments": arguments})}\n</tool_call>'


FILLS = [tool("fill_field", label=label, value=value) for label, value in VALUES.items()]
# turns of each rollout of the group: all right; one field missing; an option that there is not; nothing sent
SPOKEN = [
    [tool("read_form"), *FILLS, tool("submit"), "Done."],
    [*FILLS[1:], tool("submit"), "Done."],
    [tool("fill_field", label="Visit Time", value="Night"), *FILLS, tool("submit"), "Done."],
    ["I would rather not."],
]


def tokenizer():
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate([*special, *letters])}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.add_special_tokens({"additional_special_tokens": special})
    fast.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    return fast


class Spoken(GRPOTrainer):
    """Says what is written, turn by turn."""

    speaking = [list(turns) for turns in SPOKEN]

    def _generate_single_turn(self, prompt_ids, *args, **kwargs):
        assert len(prompt_ids) == len(self.speaking)
        words = [turns.pop(0) for turns in self.speaking]
        # those that called a tool go on
        self.speaking = [turns for turns, said in zip(self.speaking, words) if said.startswith("<tool_call>")]
        return [self.processing_class(f"{said}<|im_end|>")["input_ids"] for said in words], None


def main():
    torch.manual_seed(0)
    words = tokenizer()
    shape = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=16)
    config = Qwen3Config(vocab_size=len(words), intermediate_size=64, max_position_embeddings=16384, **shape)
    model = Qwen3ForCausalLM(config)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    ask = [{"role": "user", "content": "Fill in this form as the letter says, and submit it.\n\n"}]
    speak = "--speak" in sys.argv
    trainer = (Spoken if speak else GRPOTrainer)(
        model=model,
        processing_class=words,
        train_dataset=Dataset.from_list([{"prompt": ask, **TASK}]),
        environment_factory=FormEnvironment,
        args=GRPOConfig(
            output_dir=tempfile.mkdtemp(),
            per_device_train_batch_size=4,
            num_generations=4,
            max_steps=1,
            learning_rate=1e-3,
            max_completion_length=4096 if speak else 24,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_steps=1,
            seed=0,
        ),
    )
    trainer.train()
    moved = max((weight - before[name]).abs().max().item() for name, weight in model.state_dict().items())
    log = trainer.state.log_history[0]
    keys = ["reward", "reward_std", "tools/call_frequency", "tools/failure_frequency", "loss", "grad_norm"]
    rewards = [environment.get_reward() for environment in trainer.environments]
    print(json.dumps({"rewards": rewards, **{key: log.get(key) for key in keys}, "moved": moved}))


main()
