"""Small graphs by ONNX Runtime and PyTorch on one card: what a product, a launch and a fused layer cost.

python3 scripts/gpu/probes.py products|host|layer [--dry]

Needs the packages of onnxruntime-gpu, onnx, numpy, and torch with CUDA. Prints a JSON object per measurement.
--dry takes ONNX Runtime's own tensors in the place of torch's, and computes no reference: it tries the graphs on the
stub of `npm run gpu-plan`.
"""

import json
import statistics
import sys
import time

DRY = "--dry" in sys.argv
if not DRY:
    import torch  # before onnxruntime, which then finds CUDA's libraries loaded

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h

F32, BF16, U8, I32, I64 = T.FLOAT, T.BFLOAT16, T.UINT8, T.INT32, T.INT64
MICROSOFT = "com.microsoft"
NODE = h.make_node
NF4 = {"block_size": 64, "quant_type": 1, "training_mode": 1}
ort.set_default_logger_severity(3)


def say(**measured):
    print(json.dumps(measured), flush=True)


class Tensors:
    """Tensors on the device by name, with random numbers."""

    def __init__(self):
        self.held = {}

    def make(self, name, kind, shape, std=1.0):
        if DRY:
            self.held[name] = ort.OrtValue.ortvalue_from_shape_and_type(list(shape), kind, "cuda", 0)
        elif kind == U8:
            self.held[name] = torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda")
        else:
            dtype = {F32: torch.float32, BF16: torch.bfloat16, I32: torch.int32, I64: torch.int64}[kind]
            self.held[name] = (torch.randn(shape, device="cuda") * std).to(dtype)
        return self.held[name]

    def bind(self, binding, name, kind, shape, output=False):
        value = self.held[name]
        if DRY:
            (binding.bind_ortvalue_output if output else binding.bind_ortvalue_input)(name, value)
            return
        bind = binding.bind_output if output else binding.bind_input
        bind(name, "cuda", 0, kind, list(shape), value.data_ptr())


class Bound:
    """A session with its inputs and outputs at fixed addresses."""

    def __init__(self, nodes, inputs, outputs, tensors, initializers=(), aliases=None, on_host=None, captured=False):
        info = lambda all: [h.make_tensor_value_info(*one) for one in all]
        graph = h.make_graph(nodes, "probe", info(inputs), info(outputs), list(initializers))
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 21), h.make_opsetid(MICROSOFT, 1)], ir_version=10)
        options = ort.SessionOptions()
        options.enable_mem_pattern = False
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        provider = {"arena_extend_strategy": "kSameAsRequested"}
        if captured:
            provider["enable_cuda_graph"] = "1"
        providers = [("CUDAExecutionProvider", provider)]
        self.session = ort.InferenceSession(model.SerializeToString(), options, providers=providers)
        self.binding = self.session.io_binding()
        for name, kind, shape in inputs:
            if on_host and name in on_host:
                self.binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(on_host[name], "cpu", 0))
            else:
                tensors.bind(self.binding, name, kind, shape)
        for name, kind, shape in outputs:
            held = (aliases or {}).get(name, name)
            tensors.held.setdefault(name, tensors.held.get(held))
            tensors.bind(self.binding, name, kind, shape, output=True)
        self.options = ort.RunOptions()
        if captured:
            self.options.add_run_config_entry("gpu_graph_id", "1")
        if not DRY:
            torch.cuda.synchronize()  # the session has a stream of its own

    def run(self):
        self.session.run_with_iobinding(self.binding, self.options)

    def seconds(self, runs=7):
        """Median seconds of a run, which ends when the device has finished."""
        for _ in range(3):
            self.run()
        took = []
        for _ in range(runs):
            began = time.perf_counter()
            self.run()
            took.append(time.perf_counter() - began)
        return statistics.median(took)


def attempt(what, work):
    try:
        say(**what, **work())
    except Exception as error:  # the other measurements stand
        say(**what, error=str(error).split("\n")[0][:300])


# 1. products


def ort_product(form, m, n, k, count):
    t = Tensors()
    kind, result = (F32, F32) if form == "tf32" else (BF16, F32 if form == "float8op" else BF16)
    inputs = [("x", kind, (m, k))]
    if form == "nf4":
        inputs += [("codes", U8, (n * k // 2,)), ("scales", BF16, (n * k // 64,))]
    else:
        inputs += [("w", kind, (n, k))]
    for name, of, shape in inputs:
        t.make(name, of, shape, 0.02)
    nodes = []
    for i in range(count):
        if form == "nf4":
            nodes.append(NODE("MatMulBnb4", ["x", "codes", "scales"], [f"y{i}"], domain=MICROSOFT, K=k, N=n, **NF4))
        elif form == "float8op":
            nodes.append(NODE("GemmFloat8", ["x", "w"], [f"y{i}"], domain=MICROSOFT, transB=1, dtype=F32))
        else:
            nodes.append(NODE("Gemm", ["x", "w"], [f"y{i}"], transB=1))
    t.make("y", result, (m, n))
    outputs = [(f"y{i}", result, (m, n)) for i in range(count)]
    seconds = Bound(nodes, inputs, outputs, t, aliases={name: "y" for name, *_ in outputs}).seconds()
    return seconds, t


def torch_product(dtype, m, n, k, count=10):
    x = (torch.randn(m, k, device="cuda") * 0.02).to(dtype)
    w = (torch.randn(n, k, device="cuda") * 0.02).to(dtype)
    y = torch.empty(m, n, device="cuda", dtype=dtype)
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for measured in (False, True):
        began.record()
        for _ in range(count):
            torch.mm(x, w.t(), out=y)
        ended.record()
        torch.cuda.synchronize()
    return began.elapsed_time(ended) / 1000 / count


def products():
    rows = [64, 416, 800, 1536, 2048]
    layers = [(4096, 4096), (12288, 4096), (4096, 12288)]
    cases = [(m, n, k, ("bf16", "nf4")) for m in rows for n, k in layers]
    cases += [(m, v, 4096, ("bf16", "tf32", "float8op")) for m in (416, 1536) for v in (151671, 151680)]
    if DRY:
        cases = cases[:1] + cases[-1:]
    for m, n, k, forms in cases:
        rate = lambda s: 2 * m * n * k / s / 1e12
        for form in forms:

            def of_ort():
                one, many = ort_product(form, m, n, k, 1)[0], ort_product(form, m, n, k, 9)[0]
                each = max((many - one) / 8, 1e-9)
                return {"ms": 1000 * each, "tflops": rate(each), "ms_one_run": 1000 * one}

            attempt({"part": "product", "by": "ort", "form": form, "m": m, "n": n, "k": k}, of_ort)
        if not DRY:

            def of_torch():
                s = torch_product(torch.bfloat16, m, n, k)
                return {"ms": 1000 * s, "tflops": rate(s)}

            attempt({"part": "product", "by": "torch", "form": "bf16", "m": m, "n": n, "k": k}, of_torch)
            torch.cuda.empty_cache()


# 2. does the host run ahead


def host():
    big, count, runs = 8192, 500, 8
    small = {
        "add": lambda a, b: [NODE("Add", [a, "one"], [b])],
        "nf4": lambda a, b: [NODE("MatMulBnb4", [a, "codes", "scales"], [b], domain=MICROSOFT, K=64, N=64, **NF4)],
        "gemm": lambda a, b: [NODE("Gemm", [a, "w"], [b], transB=1)],
        "gemm+c": lambda a, b: [NODE("Gemm", [a, "w", "one"], [b], transB=1)],
    }

    def graph(what, before, after):
        t = Tensors()
        inputs = [("x", BF16, (4, 64)), ("one", BF16, (4, 64)), ("w", BF16, (64, 64))]
        inputs += [("codes", U8, (2048,)), ("scales", BF16, (64,)), ("big", BF16, (big, big))]
        for name, kind, shape in inputs:
            t.make(name, kind, shape, 0.01)
        ints = lambda name, *v: h.make_tensor(name, I64, [len(v)], v)
        constants = [ints("zero", 0, 0), ints("end", 4, 64), ints("axes", 0, 1)]
        nodes, last = [], "x"
        if before:
            for i in range(runs):
                nodes.append(NODE("MatMul", ["big" if i == 0 else f"p{i - 1}", "big"], [f"p{i}"]))
            nodes.append(NODE("Slice", [f"p{runs - 1}", "zero", "end", "axes"], ["s"]))
            last = "s"
        if after:
            for i in range(count):
                nodes += small[what](last, f"y{i}")
                last = f"y{i}"
        nodes.append(NODE("Identity", [last], ["out"]))
        t.make("out", BF16, (4, 64))
        return Bound(nodes, inputs, [("out", BF16, (4, 64))], t, constants).seconds(9)

    attempt({"part": "host", "what": "eight products of 8192"}, lambda: {"ms": 1000 * graph("add", True, False)})
    for what in small:

        def measured():
            alone, behind = graph(what, False, True), graph(what, True, True)
            return {"nodes": count, "ms_alone": 1000 * alone, "ms_behind_products": 1000 * behind}

        attempt({"part": "host", "what": what}, measured)


# 3. a layer of a rollout round from fused operators

HEADS, KV, HEAD, HIDDEN, FFN, RANK = 32, 8, 128, 4096, 12288, 16
ROWS, BLOCKS, BLOCK = 4, 2, 256


def layer_graph(layers, tokens, base):
    """Returns nodes, inputs, outputs and constants of `layers` Qwen3-8B layers on `tokens` packed tokens."""
    kv, nodes, inputs, outputs = KV * HEAD, [], [], []
    inputs += [("x0", BF16, (tokens, HIDDEN)), ("cu", I32, (ROWS + 1,)), ("past", I32, (ROWS,))]
    inputs += [("table", I32, (ROWS, BLOCKS)), ("meta", I32, (2,))]
    inputs += [("cos", BF16, (tokens, HEAD // 2)), ("sin", BF16, (tokens, HEAD // 2))]
    ints = lambda name, *v: h.make_tensor(name, I64, [len(v)], v)
    constants = [ints("zero", 0), ints("heads", -1, HEAD)]
    for name, width in (("q", HEADS * HEAD), ("k", kv)):
        constants += [ints(f"flat_{name}", -1, width), ints(f"line_{name}", 1, -1, width)]
    add = lambda op, given, made, **more: nodes.append(NODE(op, given, made, **more))

    def product(p, x, name, n, k):
        if base == "nf4":
            inputs.extend([(f"{p}{name}_codes", U8, (n * k // 2,)), (f"{p}{name}_scales", BF16, (n * k // 64,))])
            given = [x, f"{p}{name}_codes", f"{p}{name}_scales"]
            add("MatMulBnb4", given, [f"{p}{name}_y"], domain=MICROSOFT, K=k, N=n, **NF4)
        else:
            inputs.append((f"{p}{name}_w", BF16, (n, k)))
            add("Gemm", [x, f"{p}{name}_w"], [f"{p}{name}_y"], transB=1)

    def lora(p, x, names, k):
        # one product by all A; the B of each has zero columns for the others, so that nothing is split
        group, rank = "".join(name for name, _ in names), RANK * len(names)
        inputs.append((f"{p}{group}_A", BF16, (rank, k)))
        add("Gemm", [x, f"{p}{group}_A"], [f"{p}{group}_low"], transB=1)
        for name, n in names:
            product(p, x, name, n, k)
            inputs.append((f"{p}{name}_B", BF16, (n, rank)))
            add("Gemm", [f"{p}{group}_low", f"{p}{name}_B", f"{p}{name}_y"], [f"{p}{name}"], transB=1, alpha=2.0)

    def normed(p, stream, change, weight, out):
        inputs.append((p + weight, BF16, (HIDDEN,)))
        if change is None:
            add("SimplifiedLayerNormalization", [stream, p + weight], [p + out], axis=-1)
            return stream
        made = [p + out, "", "", f"{p}{out}_sum"]
        add("SkipSimplifiedLayerNormalization", [stream, change, p + weight], made, domain=MICROSOFT)
        return f"{p}{out}_sum"

    stream, change = "x0", None
    for i in range(layers):
        p = f"l{i}_"
        stream = normed(p, stream, change, "n1", "h")
        lora(p, p + "h", [("q", HEADS * HEAD), ("k", kv), ("v", kv)], HIDDEN)
        for name, heads in (("q", HEADS), ("k", KV)):
            inputs.append((f"{p}{name}_norm", BF16, (HEAD,)))
            add("Reshape", [p + name, "heads"], [f"{p}{name}1"])
            add("SimplifiedLayerNormalization", [f"{p}{name}1", f"{p}{name}_norm"], [f"{p}{name}2"], axis=-1)
            add("Reshape", [f"{p}{name}2", f"line_{name}"], [f"{p}{name}3"])
            turned = [f"{p}{name}3", "zero", "cos", "sin"]
            add("RotaryEmbedding", turned, [f"{p}{name}4"], domain=MICROSOFT, num_heads=heads)
            add("Reshape", [f"{p}{name}4", f"flat_{name}"], [f"{p}{name}5"])
        pages = (ROWS * BLOCKS, BLOCK, KV, HEAD)
        inputs.extend([(f"{p}K", BF16, pages), (f"{p}V", BF16, pages)])
        outputs.extend([(f"{p}K_out", BF16, pages), (f"{p}V_out", BF16, pages)])
        given = [p + "q5", p + "k5", p + "v", p + "K", p + "V", "cu", "past", "table"] + [""] * 8 + ["meta"]
        made = [p + "seen", p + "K_out", p + "V_out"]
        add("PagedAttention", given, made, domain=MICROSOFT, num_heads=HEADS, kv_num_heads=KV)
        lora(p, p + "seen", [("o", HIDDEN)], HEADS * HEAD)
        stream = normed(p, stream, p + "o", "n2", "h2")
        lora(p, p + "h2", [("g", FFN), ("u", FFN)], HIDDEN)
        add("QuickGelu", [p + "g"], [p + "g1"], domain=MICROSOFT, alpha=1.0)
        add("Mul", [p + "g1", p + "u"], [p + "a"])
        lora(p, p + "a", [("d", HIDDEN)], FFN)
        change = p + "d"
    add("Add", [stream, change], ["y"])
    outputs.append(("y", BF16, (tokens, HIDDEN)))
    return nodes, inputs, outputs, constants


class Layers:
    """Layers with random weights over rows that have seen `past` tokens each."""

    def __init__(self, layers, tokens, base):
        self.layers, self.tokens = layers, tokens
        self.nodes, self.inputs, self.outputs, self.constants = layer_graph(layers, tokens, base)
        self.t = Tensors()
        for name, kind, shape in self.inputs:
            if name == "meta":
                continue
            norm = name.endswith(("n1", "n2", "_norm"))
            made = self.t.make(name, kind, shape, 0.02 if name != "x0" and not name.endswith(("K", "V")) else 1.0)
            if norm and not DRY:
                made.fill_(1)
        self.t.make("y", BF16, (tokens, HIDDEN))
        self.lengths = [tokens // ROWS + (i < tokens % ROWS) for i in range(ROWS)]
        self.before = [100 + 10 * i for i in range(ROWS)]
        self.host = {"meta": np.array([max(self.lengths), max(map(sum, zip(self.lengths, self.before)))], np.int32)}
        if not DRY:
            starts = [sum(self.lengths[:i]) for i in range(ROWS + 1)]
            self.t.held["cu"].copy_(torch.tensor(starts, dtype=torch.int32))
            self.t.held["past"].copy_(torch.tensor(self.before, dtype=torch.int32))
            self.t.held["table"].copy_(torch.arange(ROWS * BLOCKS, dtype=torch.int32).reshape(ROWS, BLOCKS))
            angles = torch.rand(tokens, HEAD // 2, device="cuda") * 6
            self.t.held["cos"].copy_(angles.cos())
            self.t.held["sin"].copy_(angles.sin())

    def bound(self, captured=False):
        pages = {f"l{i}_{x}_out": f"l{i}_{x}" for i in range(self.layers) for x in "KV"}
        more = {"aliases": pages, "on_host": self.host, "captured": captured}
        return Bound(self.nodes, self.inputs, self.outputs, self.t, self.constants, **more)

    def reference(self):
        """Computes the layers in float32 by torch, from the weights in 16 bits."""
        w = {name: value.float() for name, value in self.t.held.items() if value is not None}
        norm = lambda x, weight: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight
        x = w["x0"]
        for i in range(self.layers):
            p = f"l{i}_"

            def lora(x, group, name):
                return x @ w[f"{p}{name}_w"].T + 2 * (x @ w[f"{p}{group}_A"].T) @ w[f"{p}{name}_B"].T

            def turned(x, name):
                a, b = norm(x.view(self.tokens, -1, HEAD), w[f"{p}{name}_norm"]).chunk(2, -1)
                cos, sin = w["cos"][:, None], w["sin"][:, None]
                return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

            y = norm(x, w[p + "n1"])
            q, k = (turned(lora(y, "qkv", name), name) for name in "qk")
            v = lora(y, "qkv", "v").view(self.tokens, KV, HEAD)
            seen, at = [], 0
            for row, (length, before) in enumerate(zip(self.lengths, self.before)):
                old = [w[p + x].view(ROWS, BLOCKS * BLOCK, KV, HEAD)[row, :before] for x in "KV"]
                keys, values = (
                    torch.cat([o, n[at : at + length]]).repeat_interleave(HEADS // KV, 1) for o, n in zip(old, (k, v))
                )
                scores = torch.einsum("qhd,khd->hqk", q[at : at + length], keys) * HEAD**-0.5
                place = torch.arange(before + length, device="cuda")
                scores.masked_fill_(place[None, :] > place[before:, None], float("-inf"))
                seen.append(torch.einsum("hqk,khd->qhd", scores.softmax(-1), values).reshape(length, -1))
                at += length
            x = x + lora(torch.cat(seen), "o", "o")
            y = norm(x, w[p + "n2"])
            x = x + lora(nn_silu(lora(y, "gu", "g")) * lora(y, "gu", "u"), "d", "d")
        return x


def nn_silu(x):
    return x * torch.sigmoid(x)


def layer():
    difference = lambda a, b: float((a.float() - b.float()).abs().max() / b.float().abs().max())

    def agrees():
        some = Layers(2, 256, "bf16")
        bound = some.bound()
        if DRY:
            bound.run()
            return {}
        torch.backends.cuda.matmul.allow_tf32 = False
        expected = some.reference()
        bound.run()
        return {"difference": difference(some.t.held["y"], expected)}

    attempt({"part": "layer", "what": "two layers of bf16 against float32"}, agrees)

    def captured_agrees():
        some = Layers(2, 256, "bf16")
        plain, captured = some.bound(), some.bound(captured=True)
        worst = 0.0
        for _ in range(20):
            if not DRY:
                some.t.held["x0"].normal_()
                torch.cuda.synchronize()
            plain.run()
            expected = None if DRY else some.t.held["y"].clone()
            if not DRY:
                some.t.held["y"].zero_()
                torch.cuda.synchronize()
            captured.run()
            if not DRY:
                worst = max(worst, difference(some.t.held["y"], expected))
        return {"difference": worst}

    attempt({"part": "layer", "what": "captured against not captured, 20 replays"}, captured_agrees)
    for tokens in (791, 128):
        for base, captured in (("nf4", False), ("bf16", False), ("bf16", True)):

            def timed():
                seconds = Layers(8, tokens, base).bound(captured).seconds(9)
                return {"ms": 1000 * seconds}

            what = {"part": "layer", "what": "eight layers", "tokens": tokens, "base": base, "captured": captured}
            attempt(what, timed)
            if not DRY:
                torch.cuda.empty_cache()


if __name__ == "__main__":
    {"products": products, "host": host, "layer": layer}[sys.argv[1]]()
