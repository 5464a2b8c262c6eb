"""Background work on one space that its owner starts: reindexing after the embedding model changed (A6)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chalicelib.domain.drafts import NewJob
from chalicelib.domain.ids import new_id
from chalicelib.domain.records import Commit, Job, JobWrite, SpaceRecord, SpaceWrite
from chalicelib.domain.scope import Right, Scope, Space
from chalicelib.errors import (
    ConflictError,
    EmbeddingError,
    NotFoundError,
    SearchIndexError,
    StaleVersionError,
    StoreError,
)
from chalicelib.ports import Clock, InboxStore, MemoryStore, Queue, SearchIndex
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.context import Spaces, require
from chalicelib.services.memory.embedding import Embedding
from chalicelib.services.memory.project import Projector, pages, pass_scope

TRIES = 5


@dataclass(frozen=True)
class Jobs:
    """Starts, shows and runs jobs."""

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore
    index: SearchIndex
    embedding: Embedding
    projector: Projector
    queue: Queue
    clock: Clock

    def start(self, scope: Scope, draft: NewJob, request: Request) -> dict[str, Any]:
        """`{"job": {…}}`: a new job, or the one of this kind that runs already. Raises ForbiddenError,
        ConflictError without an embedding model."""

        def work() -> dict[str, Any]:
            here = self.spaces.look(scope, Right.WRITE, request.now)
            if draft.kind == "recategorise":
                raise ConflictError("no helper model is set: memories cannot be sorted by themselves")
            if not self.embedding.serves(scope.space):
                raise ConflictError("no embedding model serves this space: there is nothing to index anew")
            running = next((j for j in self._recent(scope) if j.kind == draft.kind and _unfinished(j)), None)
            if running is not None:
                return {"job": _show(running)}
            job = Job(
                id=new_id("job"),
                space=scope.space.key,
                kind=draft.kind,
                asked_by=scope.actor,
                created_at=here.now,
                updated_at=here.now,
            )
            done = record(request, {"job": job.id})
            self.store.commit(scope, Commit(jobs=(JobWrite(job=job, expected=None),), idempotency=done))
            return {"job": _show(job)}

        require(scope, Right.WRITE)
        return once(self.inbox, request, lambda outcome: self.get(scope, outcome["job"]), work)

    def get(self, scope: Scope, job: str) -> dict[str, Any]:
        """`{"job": {id, kind, state, done, failed, total, error, …}}`. Raises NotFoundError."""
        self.spaces.look(scope, Right.READ)
        found = self.store.job(scope, job)
        if found is None:
            raise NotFoundError("there is no such job in this space", job=job)
        return {"job": _show(found)}

    def listed(self, scope: Scope) -> list[dict[str, Any]]:
        """The newest jobs of this space."""
        self.spaces.look(scope, Right.READ)
        return [_show(job) for job in self._recent(scope)]

    def wake(self, space: Space, job: str) -> None:
        """Send the message that starts a new job; called for each change of a job. Raises StoreError."""
        found = self.store.job(pass_scope(space, "reindex"), job)
        if found is not None and found.state == "queued":
            self._send(space, found, found.id)

    def wake_unfinished(self, space: Space, idle: timedelta) -> int:
        """Send again the messages of this space's unfinished jobs on which nobody has worked for `idle`: theirs were
        lost. How many. One that is not lost does no harm: a job goes on from where it is. Raises StoreError."""
        waiting = [
            job
            for job in self._recent(pass_scope(space, "sweep"))
            if _unfinished(job) and self.clock() - job.updated_at >= idle
        ]
        for job in waiting:
            self._send(space, job, f"{job.id}-again-{job.version}")
        return len(waiting)

    def _send(self, space: Space, job: Job, deduplicate: str) -> None:
        self.queue.send(space.key, {"space": space.key, "job": job.id}, deduplicate=deduplicate)

    def run(self, scope: Scope, job_id: str, more_time: Callable[[], bool]) -> bool:
        """Go on with a job until it is finished, or `more_time` says no: then a message is sent to go on with it;
        whether it is finished. Each step is saved, and safe to repeat: an interrupted job goes on from its cursor, and
        from the beginning when the embedding model is another one by now.
        Raises StoreError: the message is to be delivered again."""
        job = self.store.job(scope, job_id)
        if job is None or not _unfinished(job):
            return True
        try:
            job = self._save(scope, job, state="running", **self._anew_with_another_model(job))
            for memories in pages(self.store, scope, after=job.cursor):
                entries, lacking = self.projector.entries(scope, memories)
                failed = {entry.number for entry in self.index.apply(entries)} | lacking
                job = self._save(
                    scope,
                    job,
                    cursor=memories[-1].number,
                    done=job.done + len(memories) - len(failed),
                    failed=job.failed + len(failed),
                )
                if not more_time():
                    self._send(scope.space, job, f"{job.id}-{job.cursor}")
                    return False
            self._complete(scope, job)
        except (EmbeddingError, SearchIndexError) as error:
            self._save(scope, job, state="failed", error=f"{type(error).__name__}: {error}")
        except StaleVersionError:
            return True  # another worker has it
        return True

    def _anew_with_another_model(self, job: Job) -> dict[str, Any]:
        """What a job forgets that was begun with another embedding model than the one in use."""
        model = self.embedding.fingerprint
        return {} if job.model == model else {"model": model, "cursor": 0, "done": 0, "failed": 0}

    def _complete(self, scope: Scope, job: Job) -> None:
        if job.failed:
            self._save(scope, job, state="failed", error=f"{job.failed} memories could not be embedded")
            return
        fingerprint = self.embedding.fingerprint
        for _ in range(TRIES):
            space = self.store.space(scope)
            try:
                if fingerprint is not None and (space is None or fingerprint not in space.embedded_with):
                    self.store.commit(scope, Commit(spaces=(self._with_model(scope, space, fingerprint),)))
            except StaleVersionError:
                continue
            self._save(scope, job, state="done", total=job.done)
            return
        raise StoreError("the space's record is being changed by others")

    def _with_model(self, scope: Scope, space: SpaceRecord | None, fingerprint: str) -> SpaceWrite:
        if space is None:
            return SpaceWrite(record=self.embedding.first_record(scope.space, self.clock()), expected=None)
        models = (*space.embedded_with, fingerprint)
        changed = space.model_copy(update={"embedded_with": models, "version": space.version + 1})
        return SpaceWrite(record=changed, expected=space.version)

    def _save(self, scope: Scope, job: Job, **update: Any) -> Job:
        changed = job.model_copy(update={**update, "version": job.version + 1, "updated_at": self.clock()})
        self.store.commit(scope, Commit(jobs=(JobWrite(job=changed, expected=job.version),)))
        return changed

    def _recent(self, scope: Scope) -> list[Job]:
        return self.store.jobs(scope, 50)

    def start_everywhere(self, scope: Scope, request: Request) -> int:
        """Start reindexing in every space whose vectors are not complete (an admin's `all`); how many.

        `scope`: where it was asked, and where it is noted that it was done.
        """

        def work() -> int:
            count = sum(self._start_where_needed(space, request) for space in self.store.spaces())
            if (done := record(request, {"started": count})) is not None:
                self.store.commit(scope, Commit(idempotency=done))
            return count

        require(scope, Right.WRITE)
        return once(self.inbox, request, lambda outcome: int(outcome["started"]), work)

    def _start_where_needed(self, space: Space, request: Request) -> bool:
        scope = pass_scope(space, "reindex")
        if not self.embedding.serves(space) or self.embedding.complete(space, self.store.space(scope)):
            return False
        self.start(scope, NewJob(kind="reindex"), request.model_copy(update={"key": None}))
        return True


def _unfinished(job: Job) -> bool:
    return job.state in ("queued", "running")


def _show(job: Job) -> dict[str, Any]:
    return job.model_dump(mode="json", exclude={"space", "cursor", "version", "model"})
