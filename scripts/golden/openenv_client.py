"""Drives an OpenEnv server with PyPI's own client and prints what came, as JSON: `python openenv_client.py URL [--frames]`.

Used by test/features/openenv/interop.slow.test.ts, and to record test/golden/openenv/client.json (needs `pip install
openenv==0.10.0`): every frame that the client sent and got, in order.
"""

import json
import sys

from openenv.core import GenericEnvClient
from openenv.core import env_client

frames = []


def record():
    """Keeps every frame of every connection."""
    send, receive = env_client.EnvClient._send, env_client.EnvClient._receive

    async def sending(self, message):
        frames.append({"sent": message})
        await send(self, message)

    async def receiving(self):
        got = await receive(self)
        frames.append({"got": got})
        return got

    env_client.EnvClient._send, env_client.EnvClient._receive = sending, receiving


def attempt(call):
    """What a call gave, or the error that the client made of the server's."""
    try:
        return call()
    except RuntimeError as error:
        return {"error": str(error)}


def shown(result):
    if isinstance(result, dict):
        return result
    return {
        "observation": result.observation,
        "reward": result.reward,
        "done": result.done,
    }


def main():
    url = sys.argv[1]
    record()
    told = []
    with GenericEnvClient(base_url=url).sync() as env:
        told.append(shown(env.reset(split="val", index=1, episode_id="one")))
        told.append(shown(env.step({"text": "fill Name | library"})))
        told.append(env.state())
        told.append(shown(env.step({"text": "fill Name | wrong"})))
        told.append(shown(env.step({"text": "fill Name | bakery"})))
        told.append(attempt(lambda: env.step({"text": "after the end"})))
        told.append(attempt(lambda: env.step({"words": "no such field"})))
        told.append(attempt(lambda: env.reset(split="nowhere")))
        # the environment fails on purpose in its second turn
        told.append(shown(env.reset(task_id="echo/train/3")))
        told.append(attempt(lambda: env.step({"text": "break"})))
        told.append(shown(env.reset(seed=6)))
    print(json.dumps({"told": told, "frames": frames} if "--frames" in sys.argv else told))


main()
