"""Files of other projects: out of $ACCEPTANCE_SOURCES/OWNER+NAME/repo (git), or cloned."""

import os
import subprocess


def has(git, commit):
    known = ["git", "--git-dir", git, "cat-file", "-e", commit + "^{commit}"]
    return os.path.isdir(git) and not subprocess.run(
        known, check=False, stderr=subprocess.DEVNULL).returncode


def checked_out(name, folder, directory, commit="HEAD"):
    """Puts a folder of a project (`OWNER+NAME`) below a directory. Gives its path, or None when the
    project, or that commit of it, is nowhere to be had."""
    git = os.path.join(os.environ.get("ACCEPTANCE_SOURCES", ""), name, "repo")
    if not has(git, commit):
        git = os.path.join(directory, "clone.git")
        url = "https://github.com/" + name.replace("+", "/")
        subprocess.run(["git", "init", "-q", "--bare", git], check=True)
        fetch = ["git", "--git-dir", git, "fetch", "-q", "--depth", "1", url, commit]
        if subprocess.run(fetch, check=False, stderr=subprocess.DEVNULL).returncode:
            return None
        commit = "FETCH_HEAD"
    listed = ["git", "--git-dir", git, "ls-tree", "-r", commit, folder]
    listed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    # A mirror may lack some of the large ones; then they are left out.
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    reader = subprocess.Popen(["git", "--git-dir", git, "cat-file", "--batch"], env=environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    missing = 0
    for line in listed.splitlines():
        meta, path = line.split("\t")
        reader.stdin.write(meta.split()[2].encode() + b"\n")
        reader.stdin.flush()
        head = reader.stdout.readline().split()
        if head[-1] == b"missing":
            missing += 1
            continue
        content = reader.stdout.read(int(head[2]))
        reader.stdout.read(1)
        target = os.path.join(directory, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content)
    reader.stdin.close()
    reader.wait()
    if missing:
        print(f"# {name}: {missing} files are not in the mirror")
    return os.path.join(directory, folder)
