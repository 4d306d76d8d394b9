"""Drives an OpenEnv server with PyPI's own client and prints what came, as JSON: `python openenv_client.py URL [--frames]`.

Used by test/features/openenv/interop.slow.test.ts, and to record test/golden/openenv/client.json (needs `pip install
openenv==0.10.0`): every frame that the client sent and got, in order.
"""

import asyncio
import json
import sys

from openenv.core import GenericEnvClient
from openenv.core import env_client
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.mcp_client import MCPToolClient

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


def call(name, **arguments):
    return {"type": "call_tool", "tool_name": name, "arguments": arguments}


async def with_tools(url):
    """The same by the client for environments of tools: its calls go by HTTP, its steps by the socket."""
    async with MCPToolClient(base_url=url) as env:
        told = {"tools": [tool.model_dump() for tool in await env.list_tools()]}
        await env.reset(split="val", index=0)
        for word in ("garden", "library"):
            told["filled"] = await env.call_tool("fill_field", label="Name", value=word)
            told["next"] = await env.call_tool("submit")
        try:
            await env.call_tool("fill_field", label="Name", value="attic")
        except RuntimeError as error:
            told["refused"] = str(error)
        told["form"] = await env.call_tool("read_form")
        last = await env.step(CallToolAction(tool_name="fill_field", arguments={"label": "Name", "value": "wrong"}))
        told["undone"] = [last.reward, last.done]
        last = await env.step(CallToolAction(tool_name="submit", arguments={}))
        told["end"] = [last.observation.result["data"], last.reward, last.done]
        return told


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
        told.append(shown(env.step({"type": "list_tools"})))
        told.append(shown(env.step(call("fill_field", label="Name", value="museum"))))
        told.append(shown(env.step(call("fill_field", label="Nome", value="museum"))))
        told.append(shown(env.step(call("fill_field", label="Name", value="attic"))))
        told.append(shown(env.step(call("read_form"))))
        told.append(shown(env.step(call("submit"))))
    if "--frames" in sys.argv:
        print(json.dumps({"told": told, "frames": frames}))
    else:
        print(json.dumps([*told, asyncio.run(with_tools(url))]))


main()
