"""Servers on a free port of this machine, and requests to them."""

import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

from beamlearn.web.listening import address_of, bound


@contextmanager
def running(server):
    """The address of a server, while it runs."""
    with bound(0) as listening:
        address = address_of(listening)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()


def ask(url, method="GET", data=None, **headers):
    """Status, text and headers of an answer."""
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers
