"""Each leg of the index by itself: what it gives must be of the space that is asked for, before the table is asked."""

from collections.abc import Sequence

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import ALL_LEGS, IndexEntry, IndexQuery, Leg
from chalicelib.ports import SearchIndex
from tests.security.tenants import Tenant, Tenants


def foreign_hits(tenants: Tenants, legs: Sequence[Leg] = tuple(sorted(ALL_LEGS))) -> dict[str, list[int]]:
    """Numbers that a search of the index gives, by each of `legs` alone, and that are not of the space; by space and
    leg. What was just written takes part as in the service."""
    foreign = {}
    for leg in legs:
        for tenant in tenants.all:
            found = hits_of(tenants, tenant, leg)
            assert found or (tenant.space.kind == "community" and "meaning" in leg), (tenant.space.key, leg)
            strangers = sorted(set(found) - numbers_of(tenants, tenant))
            if strangers:
                foreign[f"{tenant.space.key} by {leg}"] = strangers
    return foreign


def hits_of(tenants: Tenants, tenant: Tenant, leg: Leg) -> list[int]:
    """What one leg finds in one space, for words that are in all spaces."""
    world = tenants.world
    assert world.parts.embedder is not None
    query = IndexQuery(
        text="lantern in the harbour",
        filter=MemoryFilter(),
        depth=500,
        model=world.parts.embedder.model.fingerprint,
        vector=world.parts.embedder.query("The lantern in the harbour"),
        legs=frozenset({leg}),
        fresh=tuple(_everything_fresh(tenants)),
    )
    index: SearchIndex = world.parts.index
    return [hit.number for hit in index.search(tenant.scope, [query])[0]]


def _everything_fresh(tenants: Tenants) -> list[IndexEntry]:
    """The fresh entries of all spaces: an index must pass over those of others even if it is given them."""
    store, embedding = tenants.world.parts.memories, tenants.world.services.projector.embedding
    return [
        entry
        for tenant in tenants.all
        for entry in embedding.entries_from_table(tenant.scope, store.unprojected(tenant.scope, 500))
    ]


def numbers_of(tenants: Tenants, tenant: Tenant) -> set[int]:
    """All numbers of a space, as the table has them."""
    page = tenants.world.parts.memories.page(tenant.scope, after=None, limit=10_000)
    return {memory.number for memory in page}
