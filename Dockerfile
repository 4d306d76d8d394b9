# refusion-train with a browser, as a user who is not root (docs/cluster.md).
#   docker build -t refusion-train .                      on CPUs
#   docker build -t refusion-train:cuda --target cuda .   with CUDA 13
# Without arguments it serves forms and letters to OpenEnv clients on port 8000.
ARG NODE=24-trixie-slim
ARG CUDA=13.0.2-runtime-ubuntu24.04

FROM node:${NODE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm pack --pack-destination /tmp
WORKDIR /package
# what is published, with the packages of the lock file and no others
RUN tar -xzf /tmp/refusion-train-*.tgz --strip-components=1 \
  && cp /src/package-lock.json /src/.npmrc . \
  && npm ci --omit=dev

FROM node:${NODE} AS base
# security updates of the browser replace older versions, so that none can be pinned
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /package /opt/refusion-train
RUN ln -s /opt/refusion-train/dist/src/cli/train.js /usr/local/bin/refusion-train \
  && ln -s /opt/refusion-train/dist/src/cli/eval.js /usr/local/bin/refusion-eval \
  && chmod 755 /opt/refusion-train/dist/src/cli/train.js /opt/refusion-train/dist/src/cli/eval.js \
  && install --directory --owner=1000 --group=1000 /work
# the browser's home, also of a user without one and on a file system that is read-only but for /tmp
ENV HOME=/tmp
USER 1000
WORKDIR /work
EXPOSE 8000
ENTRYPOINT ["refusion-train"]
CMD ["serve", "--config", "configs/tiny/letters-flow-grpo.yaml", "--host", "0.0.0.0"]

FROM nvidia/cuda:${CUDA} AS cuda-libraries
WORKDIR /usr/local/cuda/targets/x86_64-linux/lib
# those that the provider names; the others of the image are larger than all of these
RUN mkdir /cuda && cp --no-dereference libcublas*.so.* libcudart.so.* libcurand.so.* libnvrtc*.so.* /cuda

# ONNX Runtime's CUDA provider for CUDA 13 is in PyPI's wheel, not in npm's package (docs/gpu.md)
FROM python:3.13-slim AS cuda-provider
WORKDIR /provider
COPY --from=build /package/node_modules/onnxruntime-node /onnxruntime-node
RUN version=$(python -c "import json; print(json.load(open('/onnxruntime-node/package.json'))['version'])") \
  && pip download --no-cache-dir --no-deps --dest wheel "onnxruntime-gpu==${version}" \
  && python -m zipfile -e wheel/*.whl wheel \
  && mv wheel/onnxruntime/capi/libonnxruntime_providers_cuda.so wheel/onnxruntime/capi/libonnxruntime_providers_shared.so . \
  && cp /onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1 . \
  && rm -r wheel

FROM base AS cuda
COPY --from=cuda-libraries /cuda /usr/local/cuda/lib64
COPY --from=cuda-provider /provider /opt/onnxruntime
ENV REFUSION_ONNXRUNTIME_DIR=/opt/onnxruntime \
  LD_LIBRARY_PATH=/usr/local/cuda/lib64 \
  NVIDIA_VISIBLE_DEVICES=all \
  NVIDIA_DRIVER_CAPABILITIES=compute,utility

FROM base AS cpu
