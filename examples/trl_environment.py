"""Forms as an environment of TRL's GRPOTrainer (`environment_factory`): a model of text calls the tools, the server's
receipt is the reward. Needs `pip install trl openenv`, and the forms on this machine:

    refusion-train serve --config configs/tiny/letters-flow-grpo.yaml --sessions 8 browser.contexts=8

    prompt = [{"role": "user", "content": "Fill in this form as the letter says.\\n\\n"}]
    rows = [{"prompt": prompt, "split": "train", "index": i} for i in range(64)]
    GRPOTrainer(model="Qwen/Qwen3-0.6B", train_dataset=Dataset.from_list(rows), environment_factory=FormEnvironment)
"""

import os

from openenv.core import GenericEnvClient


class FormEnvironment:
    def __init__(self):
        url = os.environ.get("FORMS_URL", "http://127.0.0.1:8000")
        self._client = GenericEnvClient(base_url=url).sync()
        self._client.connect()

    def reset(self, index=None, split="train", **row) -> str:
        """Opens the form of the dataset's row, by its split and index; without one the next form."""
        self._now = self._client.reset(split=split, index=index)
        return self._now.observation["text"]

    def read_form(self) -> str:
        """Shows the page and its fields: label, kind, options, and what was entered."""
        return self._call("read_form")

    def fill_field(self, label: str, value: str) -> str:
        """
        Enters a value into a field. Nothing is sent.

        Args:
            label: The field's label, as read_form shows it.
            value: One of its options, if it has some; yes or no for a box.
        """
        return self._call("fill_field", label=label, value=value)

    def submit(self) -> str:
        """Sends the form as it is filled in, and shows what follows."""
        return self._call("submit")

    def get_reward(self) -> float | None:
        try:
            while not self._now.done:  # what was never sent is judged as an empty answer
                self._now = self._client.step({"text": ""})
        except RuntimeError:  # the environment failed: TRL leaves the rollout out, it is no reward of 0
            return None
        return self._now.reward

    def _call(self, tool, **arguments) -> str:
        if self._now.done:
            raise ValueError("The form was sent already.")
        self._now = self._client.step({"type": "call_tool", "tool_name": tool, "arguments": arguments})
        error = self._now.observation["error"]
        if error is not None:
            raise ValueError(error["message"])
        return str(self._now.observation["result"]["data"])
