import type { BindingKind } from "../../../onnx/runtimes/binding.js";
import { openApiBinding } from "../c-api.js";

/** The C API of onnxruntime-node's own library, called through koffi: tensors stay on the device. */
export const binding: BindingKind = { open: openApiBinding };
