"""Grades the package with PyPI's `openenv` 0.10 where no Docker runs: `python openenv_validate.py FOLDER URL`.

FOLDER holds openenv.yaml, the probe that it names and the Dockerfile; at URL a server that was started as the image
starts it listens. Manifest, probe, graders and policy are the validator's own: only the container is left out, and with
it what it enforces (network, limits). Prints the report as JSON.
"""

import sys
from pathlib import Path

from openenv.validation import run_validation, write_report
from openenv.validation.types import ProviderCapability


class Running:
    """A server that runs already."""

    def __init__(self, base_url):
        self.base_url = base_url

    def inspect(self):
        return {}

    def stop(self):
        pass


class Provider:
    """Stands for Docker. It promises no network policy, so that the grader of it is skipped."""

    name = "running-server"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"no-network"})

    def build(self, root, execution):
        return "sha256:" + "0" * 64

    def start(self, spec):
        return Running(sys.argv[2])


print(write_report(run_validation(Path(sys.argv[1]), provider=Provider())))
