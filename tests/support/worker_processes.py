"""Which of several processes behind one port it was that answered, as Linux's /proc tells it."""

from pathlib import Path

from embedded.local_http import local_client
from embedded.processes import Process

PROC = Path("/proc")


def workers(process: Process) -> set[int]:
    """The pids of its children that live now."""
    try:
        tasks = [task / "children" for task in (PROC / str(process.pid) / "task").iterdir()]
        result = {int(pid) for task in tasks for pid in task.read_text("ascii").split()}
    except OSError:
        return set()
    return {pid for pid in result if alive(pid)}


def alive(pid: int) -> bool:
    """Whether a process of that pid runs: a zombie does not."""
    try:
        return (PROC / str(pid) / "stat").read_text("ascii", "replace").rpartition(")")[2].split()[
            0
        ] not in "ZX"
    except OSError:
        return False


async def answered(
    process: Process, path: str, headers: dict[str, str] | None = None
) -> tuple[int, int]:
    """One request on a connection of its own: its status, and the pid of the worker that has it (0:
    not known).
    """
    port = int(process.env["PORT"])
    async with local_client(30.0) as client:
        request = client.build_request("GET", f"http://127.0.0.1:{port}{path}", headers=headers)
        answer = await client.send(request, stream=True)
        mine = answer.extensions["network_stream"].get_extra_info("client_addr")[1]
        pid = _holder(workers(process), port, mine)
        await answer.aread()
        return answer.status_code, pid


def accepted(local: int, remote: int) -> set[str]:
    """The socket at the end of the connection from 127.0.0.1:`remote` to port `local`, once it is
    accepted.
    """
    wanted = f":{local:04X}", f":{remote:04X}"
    rows = [
        row.split() for row in (PROC / "net/tcp").read_text("ascii").splitlines()[1:]
    ]  # proc(5)
    return {
        f"socket:[{row[9]}]"
        for row in rows
        if (row[1][-5:], row[2][-5:]) == wanted and row[9] != "0"
    }


def _holder(pids: set[int], local: int, remote: int) -> int:
    sockets = accepted(local, remote)
    return next((pid for pid in pids if sockets & _open(pid)), 0)


def _open(pid: int) -> set[str]:
    try:
        return {str(link.readlink()) for link in (PROC / str(pid) / "fd").iterdir()}
    except OSError:
        return set()
