"""What SPEC says of memories, in plain dictionaries: what the service is compared with, on every engine. It is told
which numbers, ids and moments the service chose, and knows nothing of tables, indexes and requests."""

from datetime import datetime, timedelta
from typing import Any

from tests.prove.machine.people import ALL, PROJECT, Caller, Moment
from tests.prove.machine.refusing import refuse

Row = dict[str, Any]
DAY, HALF_LIVES = timedelta(days=1), (1, 3, 7, 14, 21, 30, 45, 60, 90, 180)
SHARED: dict[str, Row] = {"pool": {"kind": "project"}, "community": {"kind": "reference", "importance": None}}
COLUMNS = {"newest": "recorded_at", "oldest": "recorded_at", "updated": "updated_at", "used": "use_count"}
COUNTED = {"version", "updated_at", "use_count", "last_used_at"}
NO_END: Row = {"valid_to": None, "reason": None, "replaced_by": None}
NEW = {**NO_END, "kind": "user", "importance": 5, "subject": None, "source": None, "use_count": 0}
LEADS = {"trash": "trashed", "restore": "active", "retire": "retired", "erase": "erased", "delete": "erased"}
CANNOT = {"trash": ["trashed"], "restore": ["active"], "retire": ["retired", "trashed"], "edit": ["trashed"]}
NONE: Row = {"name": None, "project": "nowhere", "state": "erased"}


class Model:
    """One space. `items`: memories by number, categories by id; the erased and the deleted stay, as marks."""

    def __init__(self, space: str, at: Moment) -> None:
        self.space, self.at, self.default, self.cleaned = space, at, "", list[datetime]()
        self.items, self.changes = dict[Any, Row](), list[Row]()

    def rights(self, who: Caller) -> frozenset[str]:  # M6, C6
        pool = (ALL if who.account in self.at.members else {"configure"}) if self.at.pool else ()
        team = {True: ALL, False: {"read"}, None: set[str]()}[self.at.team.get(who.account)]
        may = {"pool": pool, "community": team}.get(self.space, ALL if who.account == self.space else ())
        orders = {"pool": who.admin, "community": not who.model}.get(self.space, True)
        return who.may.intersection(may) - (set() if orders else {"configure"})

    def check(self, who: Caller, right: str, key: object = 0) -> None:
        refuse(404, not self.rights(who))
        right = "configure" if isinstance(key, str) and self.space in SHARED else right
        refuse(403, right not in self.rights(who))

    def category(self, row: Row) -> Row:  # M9: what a deleted one held is uncategorised
        return self.items[row["category"]] if row["category"] in self.names().values() else NONE

    def names(self) -> dict[str, str]:
        rows = {key: row for key, row in self.items.items() if isinstance(key, str)}
        return {row["name"]: key for key, row in rows.items() if row["state"] == "active"}

    def recallable(self, row: Row, project: str | None = None) -> bool:  # M8, M9
        here = PROJECT if self.space == "pool" else project
        return self.space == "community" or self.category(row)["project"] in (None, here)

    def known(self, who: Caller) -> dict[Any, Row]:  # a model knows nothing of what it is never given
        rows = {key: row for key, row in self.items.items() if row["state"] != "erased"}
        hidden = [number for number, row in rows.items() if "number" in row and not self.recallable(row)]
        return {key: row for key, row in rows.items() if not (who.model and key in hidden)}

    def vitality(self, row: Row) -> float:  # M26, M27
        days = (self.at.now - (row.get("last_used_at") or row["recorded_at"])) / DAY
        strength = 50 + 50 * row["use_count"] / (row["use_count"] + 5)
        return float(strength * 0.5 ** (days / HALF_LIVES[(row["importance"] or 5) - 1]))

    def listed(self, who: Caller, sort: str) -> list[Row]:  # M11; of equal ones the newer number first
        rows = [row for key, row in self.known(who).items() if isinstance(key, int)]
        if sort == "vitality":
            return sorted(rows, key=lambda row: (int(self.vitality(row) * 1e4 + 0.5), -row["number"]))
        value = COLUMNS.get(sort, sort)
        return sorted(rows, key=lambda row: (row[value] or 0, row["number"]), reverse=sort != "oldest")

    def record(self, by: str, op: str, updates: dict[Any, Row]) -> list[Row]:  # M13
        group, now = len(self.changes), self.at.now
        for key, update in updates.items():
            new = {"version": 0, "state": "active", "recorded_at": now, "recorded_by": by}
            before = self.items.get(key, new)
            after = {**before, **update, "version": before["version"] + 1, "updated_at": now}
            change = {"key": key, "version": after["version"], "op": op, "by": by, "group": group}
            self.changes.append({**change, "before": before, "after": after})
            self.items[key] = after
        return [self.items[key] for key in updates]

    def fit(self, key: object, said: Row) -> Row:
        names, other = self.names(), said.get("replaced_by")
        refuse(422, said.get("category") and said["category"] not in names)
        refuse(422, other and (other == key or self.items.get(other, NONE)["state"] == "erased"))
        allowed = {"pool": True, "community": False}.get(self.space, self.space in self.at.members)
        refuse(422, (said.get("project") and not allowed) or names.get(said.get("name", ""), key) != key)
        return {**said, "category": names.get(said["category"])} if "category" in said else said

    def add(self, who: Caller, key: int | str, said: Row) -> Row:  # M2, M3, M8, M9
        self.check(who, "write", key)
        if isinstance(key, str):
            return self.record(who.name, "add", {key: {"project": None, **self.fit(key, said)}})[0]
        assert key > max((row["number"] for row in self.items.values() if "number" in row), default=0)
        default = self.category({"category": self.default})["name"]
        new = {**NEW, **SHARED.get(self.space, {}), "number": key, "category": default}
        return self.record(who.name, "add", {key: self.fit(key, {**new, **said})})[0]

    def change(self, who: Caller, op: str, key: int | str, version: int | None, said: Row) -> Row:
        self.check(who, "write", key)  # M4, M11, M13, M15
        refuse(403, op == "erase" and who.model)
        refuse(404, key not in self.known(who))
        row = self.items[key]
        refuse(409, version not in (None, row["version"]) or row["state"] in CANNOT.get(op, ()))
        end = NO_END if op == "restore" else {**NO_END, "valid_to": self.at.now} if op == "retire" else {}
        update = {**end, **self.fit(key, said), "state": LEADS.get(op, row["state"])}
        row = self.record(who.name, "categorise" if [*said] == ["category"] else op, {key: update})[0]
        for change in [one for one in self.changes if op == "erase" and one["key"] == key]:
            change.update(before=None, after=None)
        return row

    def merge(self, who: Caller, number: int, text: str, versions: dict[int, int]) -> list[Row]:  # M11
        self.check(who, "write")
        refuse(404, not versions.keys() <= self.known(who).keys())
        old = [self.items[one] for one in versions]
        refuse(409, any((one["version"], one["state"]) != (versions[one["number"]], "active") for one in old))
        held = min(old, key=lambda one: (self.category(one) is NONE, not one["category"]))["category"]
        new = {**NEW, "number": number, "text": text, "category": held, "derived_from": [*versions]}
        new |= {"kind": old[0]["kind"], "subject": old[0]["subject"]}
        new["importance"] = max(one["importance"] or 0 for one in old) or None
        end = {"state": "retired", "valid_to": self.at.now, "reason": "merged", "replaced_by": number}
        return self.record(who.name, "merge", {number: new, **dict.fromkeys(versions, end)})

    def undo(self, who: Caller, key: int | str, version: int) -> list[Row]:  # M13
        self.check(who, "write")
        found = [one for one in self.changes if (one["key"], one["version"]) == (key, version)]
        refuse(404, not found)
        if found[0]["op"] in ("merge", "undo"):
            found = [one for one in self.changes if one["group"] == found[0]["group"]]
        found.sort(key=lambda one: str(one["key"]))
        return self.record(who.name, "undo", {one["key"]: self.former(who, one) for one in found})

    def former(self, who: Caller, change: Row) -> Row:
        key, before, after, row = change["key"], change["before"], change["after"], self.items[change["key"]]
        category, first = isinstance(key, str), change["version"] == 1
        self.check(who, "write", key)
        refuse(404, not category and row["state"] != "erased" and key not in self.known(who))
        refuse(409, row["version"] != change["version"] if category else row["state"] == "erased")
        refuse(409, first and row["state"] == "trashed")
        update = {name: old for name, old in before.items() if name not in COUNTED and old != after[name]}
        refuse(409, any(row[name] != after[name] for name in update))
        again = category and not first and {**row, **update}["state"] == "active"
        refuse(409, again and self.names().get(before["name"], key) != key)
        return {"state": "erased" if category else "trashed"} if first else update

    def cleanup(self) -> None:  # M28, M31
        rows = [] if self.space == "community" else self.listed(Caller(self.space), "vitality")
        old = [r for r in rows if r["state"] == "active" and self.at.now - r["recorded_at"] >= 14 * DAY]
        self.cleaned = [at for at in self.cleaned if at > self.at.now - DAY]
        due = [row["number"] for row in old if self.vitality(row) < 10][: max(0, 5 - len(self.cleaned))]
        self.cleaned += [self.at.now] * len(due)
        self.record("pass retention", "trash", {number: {"state": "trashed"} for number in due})
