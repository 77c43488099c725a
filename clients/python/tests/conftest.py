from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server import Board, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def board(server: Server) -> Iterator[Board]:
    board = Board(server)
    yield board
    server.act(act="heal")
    board.owner.close()
