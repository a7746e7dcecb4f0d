"""A stand-in for the Hugging Face Hub, on loopback: repositories in memory, and what was asked."""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Hub:
    """Its repositories: the files of each by their names."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: dict[str, bool] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    status: int | None = None
    """What it answers everything with, if it fails."""
    address: str = ""

    def commit(self, name):
        """The number of a version: a digest of all files."""
        found = hashlib.sha1(name.encode())
        for file, data in sorted(self.files[name].items()):
            found.update(file.encode() + data)
        return found.hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_):
        pass

    def reply(self, status, value=b"", **headers):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def missing(self):
        self.reply(404, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")

    def do_POST(self):
        body, parts = self.body(), self.path.split("?")[0].strip("/").split("/")
        self.hub.asked.append(f"POST {self.path}")
        if self.hub.status is not None:
            return self.reply(self.hub.status, {"error": "no"})
        if parts == ["api", "repos", "create"]:
            wanted = json.loads(body)
            name = "/".join(filter(None, (wanted.get("organization"), wanted["name"])))
            if name in self.hub.files:
                return self.reply(409, {"url": f"{self.hub.address}/{name}"})
            self.hub.files[name] = {}
            self.hub.private[name] = wanted.get("private") or wanted.get("visibility") == "private"
            return self.reply(200, {"url": f"{self.hub.address}/{name}"})
        if parts == ["api", "validate-yaml"]:
            return self.reply(200, {"errors": [], "warnings": []})
        name, action = "/".join(parts[2:4]), parts[4]
        if name not in self.hub.files:
            return self.missing()
        if action == "preupload":
            wanted = json.loads(body)["files"]
            modes = [
                {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                for one in wanted
            ]
            return self.reply(200, {"files": modes})
        for line in body.splitlines():
            entry = json.loads(line)
            if entry["key"] == "file":
                content = base64.b64decode(entry["value"]["content"])
                self.hub.files[name][entry["value"]["path"]] = content
        commit = self.hub.commit(name)
        return self.reply(
            200, {"commitUrl": f"{self.hub.address}/{name}/commit/{commit}", "commitOid": commit}
        )

    def do_GET(self):
        self.hub.asked.append(f"{self.command} {self.path}")
        parts = self.path.split("?")[0].strip("/").split("/")
        if self.hub.status is not None:
            return self.reply(self.hub.status, {"error": "no"})
        if parts[:2] == ["api", "models"]:
            return self.about("/".join(parts[2:4]), parts[4:])
        name, file = "/".join(parts[:2]), "/".join(parts[4:])
        if name not in self.hub.files:
            return self.missing()
        if file not in self.hub.files[name]:
            return self.reply(404, {"error": "no such file"}, X_Error_Code="EntryNotFound")
        data = self.hub.files[name][file]
        etag = hashlib.sha1(data).hexdigest()
        return self.reply(200, data, ETag=f'"{etag}"', X_Repo_Commit=self.hub.commit(name))

    do_HEAD = do_GET  # noqa: N815 (the name that http.server looks for)

    def about(self, name, rest):
        if name not in self.hub.files:
            return self.missing()
        if rest and rest[0] == "revision" and rest[1] not in ("main", self.hub.commit(name)):
            return self.reply(404, {"error": "Invalid rev"}, X_Error_Code="RevisionNotFound")
        if rest and rest[0] == "tree":
            files = [
                {"type": "file", "path": file, "size": len(data), "oid": "0" * 40}
                for file, data in self.hub.files[name].items()
            ]
            return self.reply(200, files)
        siblings = [{"rfilename": file} for file in self.hub.files[name]]
        about = {"id": name, "sha": self.hub.commit(name), "siblings": siblings}
        return self.reply(200, {**about, "private": self.hub.private[name]})


@contextmanager
def hub_server():
    """Serve for as long as the context lasts; yield the `Hub`."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Of", (Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
