"""Paths find their route as they do behind API Gateway."""

from infra.local.router import Router

ROUTES: dict[str, dict[str, object]] = {
    "/v1/health": {"GET": 1},
    "/v1/spaces/{space}/memories": {"GET": 1, "POST": 1},
    "/v1/spaces/{space}/memories/{number}": {"GET": 1, "PATCH": 1},
    "/v1/spaces/{space}/memories/batch": {"POST": 1},
    "/v1/{kind}/health": {"DELETE": 1},
}


def test_a_fixed_part_wins_over_a_parameter_in_any_order_of_the_routes() -> None:
    for routes in (ROUTES, dict(reversed(ROUTES.items()))):
        found = Router(routes).match("/v1/spaces/personal/memories/batch")
        assert found == ("/v1/spaces/{space}/memories/batch", {"space": "personal"})


def test_a_fixed_part_wins_also_where_the_parameter_is_further_left() -> None:
    router = Router({"/v1/{kind}/x": {"GET": 1}, "/v1/a/{what}": {"GET": 1}})
    assert router.match("/v1/a/x") == ("/v1/a/{what}", {"what": "x"})


def test_parts_reach_the_route_as_they_came() -> None:
    found = Router(ROUTES).match("/v1/spaces/project%3Aa%2Fb%2525/memories/%31")
    assert found is not None
    assert found.parts == {"space": "project%3Aa%2Fb%2525", "number": "%31"}


def test_what_is_no_route_is_none() -> None:
    router = Router(ROUTES)
    for path in (
        "", "/", "*", "/v1", "/v1/", "/v1/health/", "//v1/health", "/v1//health", "v1/health", "/V1/health",
        "/v1/spaces//memories", "/v1/spaces/personal/memories/", "/v1/spaces/personal/memories/1/2", "/v1/health%2F",
    ):  # fmt: skip
        assert router.match(path) is None, path


def test_head_is_possible_wherever_get_is() -> None:
    router = Router(ROUTES)
    assert router.methods("/v1/health") == ["GET", "HEAD"]
    assert router.methods("/v1/spaces/{space}/memories/batch") == ["POST"]
