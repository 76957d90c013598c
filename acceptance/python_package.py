"""The Python package beside the module that was built, and sources of suites that only run."""

import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def package(directory, *others):
    """An environment in which programs find the package, and further folders."""
    target = os.path.dirname(os.path.abspath(os.environ["TONNAGE"]))
    packages = os.path.join(directory, "packages")
    shutil.copytree(os.path.join(ROOT, "crates", "python", "python"), packages)
    module = os.path.join(packages, "tonnage", "_tonnage.abi3.so")
    shutil.copy(os.path.join(target, "lib_tonnage.so"), module)
    for other in others:
        shutil.copytree(other, packages, dirs_exist_ok=True)
    return {**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}


def repository(name):
    """A repository of git, found in `$ACCEPTANCE_SOURCES` or cloned; None when neither can be."""
    home = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    cache = os.environ.get("TONNAGE_ACCEPTANCE_CACHE", os.path.join(home, "tonnage-acceptance"))
    folder = name.replace("/", "+")
    cloned = os.path.join(cache, folder)
    given = os.environ.get("ACCEPTANCE_SOURCES")
    for place in [*([os.path.join(given, folder)] if given else []), cloned]:
        for path in (place, os.path.join(place, "repo"), os.path.join(place, ".git")):
            if os.path.exists(os.path.join(path, "HEAD")):
                return path
    clone = ["git", "clone", "-q", "--bare", f"https://github.com/{name}", cloned]
    done = subprocess.run(clone, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"}, check=False)
    return cloned if done.returncode == 0 else None


def archive(git, revision, folder, *paths):
    """The files of a revision, in a folder."""
    os.makedirs(folder, exist_ok=True)
    command = ["git", "--git-dir", git, "archive", revision, *paths]
    files = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "x", "-C", folder], input=files.stdout, check=True)
