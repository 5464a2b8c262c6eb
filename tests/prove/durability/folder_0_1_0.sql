BEGIN TRANSACTION;
CREATE TABLE audit (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        body TEXT NOT NULL
    );
INSERT INTO "audit" VALUES(1,'2026-11-30T18:47:53.909Z','{"id":"aud_01m8pwhwspq5655ax84y0exzar","at":"2026-11-30T18:47:53.909Z","by":"acc_01m8pwhwsnycyc8998s1hhca8r","op":"account.found","target":"account:acc_01m8pwhwsnycyc8998s1hhca8r","details":{"key":"key_01m8pwhwspf741svak8exp62c8"}}');
INSERT INTO "audit" VALUES(2,'2026-11-30T18:47:54.852Z','{"id":"aud_01m8pwhxq5mfa2v06w4445q5gs","at":"2026-11-30T18:47:54.852Z","by":"acc_01m8pwhwsnycyc8998s1hhca8r","op":"project.create","target":"project:prj_01m8pwhxq43bxtj0pr34q32kvd","details":{"pool":true,"with_key":"key_01m8pwhwspf741svak8exp62c8"}}');
CREATE TABLE category (
        space TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (space, id)
    );
INSERT INTO "category" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r','cat_01m8pwhwt0812tx0bk1tss5drz',1,'{"id":"cat_01m8pwhwt0812tx0bk1tss5drz","space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","name":"General","description":"Whatever has no better place.","project":null,"created_at":"2026-11-30T18:47:53.920Z","updated_at":"2026-11-30T18:47:53.920Z","version":1,"deleted":false}');
INSERT INTO "category" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r','cat_01m8pwhww204xrxz74a7e5g4hf',1,'{"id":"cat_01m8pwhww204xrxz74a7e5g4hf","space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","name":"Travel","description":"Where Anna goes.","project":null,"created_at":"2026-11-30T18:47:53.985Z","updated_at":"2026-11-30T18:47:53.985Z","version":1,"deleted":false}');
CREATE TABLE change (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        space TEXT NOT NULL,
        target TEXT NOT NULL,
        version INTEGER NOT NULL,
        at TEXT NOT NULL,
        grp TEXT NOT NULL,
        body TEXT NOT NULL,
        image TEXT,
        UNIQUE (space, target, version)
    );
INSERT INTO "change" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','cat_01m8pwhwt0812tx0bk1tss5drz',1,'2026-11-30T18:47:53.920Z','grp_01m8pwhwt0h36zezx3ptv0rqpw','{"target":"cat_01m8pwhwt0812tx0bk1tss5drz","version":1,"op":"add","at":"2026-11-30T18:47:53.920Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhwt0h36zezx3ptv0rqpw","run":null,"undoes":null}','{"id": "cat_01m8pwhwt0812tx0bk1tss5drz", "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "name": "General", "description": "Whatever has no better place.", "project": null, "created_at": "2026-11-30T18:47:53.920Z", "updated_at": "2026-11-30T18:47:53.920Z", "version": 1, "deleted": false}');
INSERT INTO "change" VALUES(2,'account#acc_01m8pwhwsnycyc8998s1hhca8r','cat_01m8pwhww204xrxz74a7e5g4hf',1,'2026-11-30T18:47:53.985Z','grp_01m8pwhww2hvs16j0x4nb55mcr','{"target":"cat_01m8pwhww204xrxz74a7e5g4hf","version":1,"op":"add","at":"2026-11-30T18:47:53.985Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhww2hvs16j0x4nb55mcr","run":null,"undoes":null}','{"id": "cat_01m8pwhww204xrxz74a7e5g4hf", "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "name": "Travel", "description": "Where Anna goes.", "project": null, "created_at": "2026-11-30T18:47:53.985Z", "updated_at": "2026-11-30T18:47:53.985Z", "version": 1, "deleted": false}');
INSERT INTO "change" VALUES(3,'account#acc_01m8pwhwsnycyc8998s1hhca8r','1',1,'2026-11-30T18:47:53.992Z','grp_01m8pwhwy284f19ge5ex9md45p','{"target":"1","version":1,"op":"add","at":"2026-11-30T18:47:53.992Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhwy284f19ge5ex9md45p","run":null,"undoes":null}','{"text": "Anna lives in Brno.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Anna", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 1, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:53.992Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:53.992Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(4,'account#acc_01m8pwhwsnycyc8998s1hhca8r','2',1,'2026-11-30T18:47:54.068Z','grp_01m8pwhx0f4q7ejcrwmdbzzprq','{"target":"2","version":1,"op":"add","at":"2026-11-30T18:47:54.068Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhx0f4q7ejcrwmdbzzprq","run":null,"undoes":null}','{"text": "Petr drinks green tea.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Petr", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 2, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.068Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.068Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(5,'account#acc_01m8pwhwsnycyc8998s1hhca8r','3',1,'2026-11-30T18:47:54.149Z','grp_01m8pwhx2twn95daz15s31gnbw','{"target":"3","version":1,"op":"add","at":"2026-11-30T18:47:54.149Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhx2twn95daz15s31gnbw","run":null,"undoes":null}','{"text": "Marie is allergic to peanuts.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Marie", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 3, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.149Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.149Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(6,'account#acc_01m8pwhwsnycyc8998s1hhca8r','4',1,'2026-11-30T18:47:54.210Z','grp_01m8pwhx4jadspa9tbaqghv4ct','{"target":"4","version":1,"op":"add","at":"2026-11-30T18:47:54.210Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhx4jadspa9tbaqghv4ct","run":null,"undoes":null}',NULL);
INSERT INTO "change" VALUES(7,'account#acc_01m8pwhwsnycyc8998s1hhca8r','5',1,'2026-11-30T18:47:54.265Z','grp_01m8pwhx6d9d6xe3sqdemv1gvx','{"target":"5","version":1,"op":"add","at":"2026-11-30T18:47:54.265Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhx6d9d6xe3sqdemv1gvx","run":null,"undoes":null}','{"text": "Eva paints doors blue.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Eva", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 5, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.265Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.265Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(8,'account#acc_01m8pwhwsnycyc8998s1hhca8r','6',1,'2026-11-30T18:47:54.331Z','grp_01m8pwhx8fs1g7vhx980kx05xv','{"target":"6","version":1,"op":"add","at":"2026-11-30T18:47:54.331Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhx8fs1g7vhx980kx05xv","run":null,"undoes":null}','{"text": "Tom mends clocks.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Tom", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 6, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.331Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.331Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(9,'account#acc_01m8pwhwsnycyc8998s1hhca8r','7',1,'2026-11-30T18:47:54.399Z','grp_01m8pwhxaf0c1cxy63e79vb3jx','{"target":"7","version":1,"op":"add","at":"2026-11-30T18:47:54.399Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxaf0c1cxy63e79vb3jx","run":null,"undoes":null}','{"text": "Lída keeps eleven goats.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Lída", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 7, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.399Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.399Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(10,'account#acc_01m8pwhwsnycyc8998s1hhca8r','8',1,'2026-11-30T18:47:54.464Z','grp_01m8pwhxcmmckqjaszf3ef59k2','{"target":"8","version":1,"op":"add","at":"2026-11-30T18:47:54.464Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxcmmckqjaszf3ef59k2","run":null,"undoes":null}','{"text": "Ota flies a kite.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Ota", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 8, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.464Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.464Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(11,'account#acc_01m8pwhwsnycyc8998s1hhca8r','9',1,'2026-11-30T18:47:54.531Z','grp_01m8pwhxevs3yhm394bc7aq17k','{"target":"9","version":1,"op":"add","at":"2026-11-30T18:47:54.531Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxevs3yhm394bc7aq17k","run":null,"undoes":null}','{"text": "Where did you go?", "kind": "user", "importance": 5, "category": "cat_01m8pwhww204xrxz74a7e5g4hf", "key": null, "confidence": null, "subject": null, "valid_from": null, "source": {"conversation": "talk", "position": 0, "author": "Petr", "said_at": "2026-01-05T10:00:00.000Z"}, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 9, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.531Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.531Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(12,'account#acc_01m8pwhwsnycyc8998s1hhca8r','10',1,'2026-11-30T18:47:54.593Z','grp_01m8pwhxgpckb04qr0bxapgwzv','{"target":"10","version":1,"op":"add","at":"2026-11-30T18:47:54.593Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxgpckb04qr0bxapgwzv","run":null,"undoes":null}','{"text": "We went kayaking.", "kind": "user", "importance": 5, "category": "cat_01m8pwhww204xrxz74a7e5g4hf", "key": null, "confidence": null, "subject": null, "valid_from": null, "source": {"conversation": "talk", "position": 1, "author": "Petr", "said_at": "2026-01-05T10:00:00.000Z"}, "context": null, "context_from": 9, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 10, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.593Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.593Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(13,'account#acc_01m8pwhwsnycyc8998s1hhca8r','1',2,'2026-11-30T18:47:54.651Z','grp_01m8pwhxgv84yv8m8y6wa5krx8','{"target":"1","version":2,"op":"edit","at":"2026-11-30T18:47:54.651Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxgv84yv8m8y6wa5krx8","run":null,"undoes":null}','{"text": "Anna lives in Olomouc.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": "home", "confidence": null, "subject": "Anna", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 1, "version": 2, "revision": 2, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:53.992Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.651Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(14,'account#acc_01m8pwhwsnycyc8998s1hhca8r','2',2,'2026-11-30T18:47:54.653Z','grp_01m8pwhxgyp5a7ef2aphyntyr0','{"target":"2","version":2,"op":"retire","at":"2026-11-30T18:47:54.653Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxgyp5a7ef2aphyntyr0","run":null,"undoes":null}','{"text": "Petr drinks green tea.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Petr", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 2, "version": 2, "revision": 2, "state": "retired", "valid_to": "2026-11-30T18:47:54.653Z", "reason": "He prefers coffee now.", "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.068Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.653Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(15,'account#acc_01m8pwhwsnycyc8998s1hhca8r','3',2,'2026-11-30T18:47:54.656Z','grp_01m8pwhxh0s2zpnpm3y7x8n809','{"target":"3","version":2,"op":"trash","at":"2026-11-30T18:47:54.656Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxh0s2zpnpm3y7x8n809","run":null,"undoes":null}','{"text": "Marie is allergic to peanuts.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Marie", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 3, "version": 2, "revision": 2, "state": "trashed", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.149Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.656Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(16,'account#acc_01m8pwhwsnycyc8998s1hhca8r','4',2,'2026-11-30T18:47:54.658Z','grp_01m8pwhxh34dz3482p25xwhbnv','{"target":"4","version":2,"op":"erase","at":"2026-11-30T18:47:54.658Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxh34dz3482p25xwhbnv","run":null,"undoes":null}',NULL);
INSERT INTO "change" VALUES(17,'account#acc_01m8pwhwsnycyc8998s1hhca8r','11',1,'2026-11-30T18:47:54.718Z','grp_01m8pwhxmh36fvz23m3j8gsjr7','{"target":"11","version":1,"op":"merge","at":"2026-11-30T18:47:54.718Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxmh36fvz23m3j8gsjr7","run":null,"undoes":null}','{"text": "Eva paints doors, Tom mends clocks.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Eva", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [5, 6], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 11, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.718Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.718Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(18,'account#acc_01m8pwhwsnycyc8998s1hhca8r','5',2,'2026-11-30T18:47:54.718Z','grp_01m8pwhxmh36fvz23m3j8gsjr7','{"target":"5","version":2,"op":"merge","at":"2026-11-30T18:47:54.718Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxmh36fvz23m3j8gsjr7","run":null,"undoes":null}','{"text": "Eva paints doors blue.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Eva", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 5, "version": 2, "revision": 2, "state": "retired", "valid_to": "2026-11-30T18:47:54.718Z", "reason": "merged", "replaced_by": 11, "recorded_at": "2026-11-30T18:47:54.265Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.718Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(19,'account#acc_01m8pwhwsnycyc8998s1hhca8r','6',2,'2026-11-30T18:47:54.718Z','grp_01m8pwhxmh36fvz23m3j8gsjr7','{"target":"6","version":2,"op":"merge","at":"2026-11-30T18:47:54.718Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxmh36fvz23m3j8gsjr7","run":null,"undoes":null}','{"text": "Tom mends clocks.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Tom", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 6, "version": 2, "revision": 2, "state": "retired", "valid_to": "2026-11-30T18:47:54.718Z", "reason": "merged", "replaced_by": 11, "recorded_at": "2026-11-30T18:47:54.331Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.718Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(20,'account#acc_01m8pwhwsnycyc8998s1hhca8r','7',2,'2026-11-30T18:47:54.785Z','grp_01m8pwhxn2wa3nhtgfqhbkx0hs','{"target":"7","version":2,"op":"trash","at":"2026-11-30T18:47:54.785Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxn2wa3nhtgfqhbkx0hs","run":null,"undoes":null}','{"text": "Lída keeps eleven goats.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Lída", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 7, "version": 2, "revision": 2, "state": "trashed", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.399Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.785Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(21,'account#acc_01m8pwhwsnycyc8998s1hhca8r','7',3,'2026-11-30T18:47:54.793Z','grp_01m8pwhxna66skw3vk2cww7ezv','{"target":"7","version":3,"op":"restore","at":"2026-11-30T18:47:54.793Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxna66skw3vk2cww7ezv","run":null,"undoes":null}','{"text": "Lída keeps eleven goats.", "kind": "user", "importance": 7, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": "Lída", "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 7, "version": 3, "revision": 3, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.399Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.793Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(22,'project#prj_01m8pwhxq43bxtj0pr34q32kvd','1',1,'2026-11-30T18:47:54.856Z','grp_01m8pwhxrppqk7b3mg80adez1x','{"target":"1","version":1,"op":"add","at":"2026-11-30T18:47:54.856Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxrppqk7b3mg80adez1x","run":null,"undoes":null}','{"text": "The rocket is red.", "kind": "project", "importance": 5, "category": null, "key": null, "confidence": null, "subject": null, "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "project#prj_01m8pwhxq43bxtj0pr34q32kvd", "number": 1, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:54.856Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:54.856Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
INSERT INTO "change" VALUES(23,'account#acc_01m8pwhwsnycyc8998s1hhca8r','12',1,'2026-11-30T18:47:55.025Z','grp_01m8pwhxwkc1c3p9d5q5nrqrk2','{"target":"12","version":1,"op":"add","at":"2026-11-30T18:47:55.025Z","by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"group":"grp_01m8pwhxwkc1c3p9d5q5nrqrk2","run":null,"undoes":null}','{"text": "The last one.", "kind": "user", "importance": 5, "category": "cat_01m8pwhwt0812tx0bk1tss5drz", "key": null, "confidence": null, "subject": null, "valid_from": null, "source": null, "context": null, "context_from": null, "derived_from": [], "space": "account#acc_01m8pwhwsnycyc8998s1hhca8r", "number": 12, "version": 1, "revision": 1, "state": "active", "valid_to": null, "reason": null, "replaced_by": null, "recorded_at": "2026-11-30T18:47:55.025Z", "recorded_by": {"kind": "person", "id": "acc_01m8pwhwsnycyc8998s1hhca8r", "turn": null}, "updated_at": "2026-11-30T18:47:55.025Z", "use_count": 0, "last_used_at": null, "reviewed_at": null}');
CREATE TABLE counter (space TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "counter" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',12);
INSERT INTO "counter" VALUES('project#prj_01m8pwhxq43bxtj0pr34q32kvd',1);
CREATE TABLE entity (
        kind TEXT NOT NULL,
        k1 TEXT NOT NULL,
        k2 TEXT NOT NULL,
        k3 TEXT NOT NULL,
        account TEXT,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (kind, k1, k2, k3)
    );
INSERT INTO "entity" VALUES('Account','acc_01m8pwhwsnycyc8998s1hhca8r','','',NULL,1,'{"id":"acc_01m8pwhwsnycyc8998s1hhca8r","name":"Owner","email":null,"admin":true,"disabled":false,"settings":{},"created_at":"2026-11-30T18:47:53.909Z","version":1}');
INSERT INTO "entity" VALUES('ApiKey','key_01m8pwhwspf741svak8exp62c8','','','acc_01m8pwhwsnycyc8998s1hhca8r',1,'{"id":"key_01m8pwhwspf741svak8exp62c8","account":"acc_01m8pwhwsnycyc8998s1hhca8r","name":"First key","secret_hash":"b04f0fa3423c123ac57474bcd373882dbadc8b7abd2f3bf150719897443fae7a","scopes":["admin","read","write"],"acts_as":"person","created_at":"2026-11-30T18:47:53.909Z","expires_at":null,"last_used_at":"2026-11-30T18:47:53.958Z","version":1}');
INSERT INTO "entity" VALUES('Project','prj_01m8pwhxq43bxtj0pr34q32kvd','','',NULL,1,'{"id":"prj_01m8pwhxq43bxtj0pr34q32kvd","name":"Rocket","pool":true,"created_at":"2026-11-30T18:47:54.852Z","created_by":"acc_01m8pwhwsnycyc8998s1hhca8r","version":1}');
INSERT INTO "entity" VALUES('Member','prj_01m8pwhxq43bxtj0pr34q32kvd','acc_01m8pwhwsnycyc8998s1hhca8r','','acc_01m8pwhwsnycyc8998s1hhca8r',1,'{"project":"prj_01m8pwhxq43bxtj0pr34q32kvd","account":"acc_01m8pwhwsnycyc8998s1hhca8r","added_at":"2026-11-30T18:47:54.852Z","version":1}');
CREATE TABLE idempotency (
        owner TEXT NOT NULL,
        key TEXT NOT NULL,
        expires_at TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (owner, key)
    );
CREATE TABLE job (
        space TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (space, id)
    );
INSERT INTO "job" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r','job_01m8pwhxrvzq5r4k2dvyhssapr',4,'2026-11-30T18:47:54.906Z','{"id":"job_01m8pwhxrvzq5r4k2dvyhssapr","space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","kind":"reindex","state":"done","asked_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"created_at":"2026-11-30T18:47:54.906Z","updated_at":"2026-11-30T18:47:54.967Z","version":4,"total":11,"done":11,"failed":0,"cursor":11,"model":"openai-our-own-model-16-c2e60c52","error":null}');
CREATE TABLE memory (
        space TEXT NOT NULL,
        number INTEGER NOT NULL,
        version INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        use_count INTEGER NOT NULL,
        last_used_at TEXT,
        erased INTEGER NOT NULL,
        conversation TEXT,
        position INTEGER,
        context_from INTEGER,
        body TEXT NOT NULL,
        UNIQUE (space, number)
    );
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',1,2,2,0,NULL,0,NULL,NULL,NULL,'{"text":"Anna lives in Olomouc.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":"home","confidence":null,"subject":"Anna","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":1,"version":2,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:53.992Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.651Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',2,2,2,0,NULL,0,NULL,NULL,NULL,'{"text":"Petr drinks green tea.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Petr","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":2,"version":2,"state":"retired","valid_to":"2026-11-30T18:47:54.653Z","reason":"He prefers coffee now.","replaced_by":null,"recorded_at":"2026-11-30T18:47:54.068Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.653Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',3,2,2,0,NULL,0,NULL,NULL,NULL,'{"text":"Marie is allergic to peanuts.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Marie","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":3,"version":2,"state":"trashed","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.149Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.656Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',4,2,2,0,NULL,1,NULL,NULL,NULL,'{"text":"(erased)","kind":"user","importance":null,"category":null,"key":null,"confidence":null,"subject":null,"valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":4,"version":2,"state":"erased","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.210Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.658Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',5,2,2,0,NULL,0,NULL,NULL,NULL,'{"text":"Eva paints doors blue.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Eva","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":5,"version":2,"state":"retired","valid_to":"2026-11-30T18:47:54.718Z","reason":"merged","replaced_by":11,"recorded_at":"2026-11-30T18:47:54.265Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.718Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',6,2,2,0,NULL,0,NULL,NULL,NULL,'{"text":"Tom mends clocks.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Tom","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":6,"version":2,"state":"retired","valid_to":"2026-11-30T18:47:54.718Z","reason":"merged","replaced_by":11,"recorded_at":"2026-11-30T18:47:54.331Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.718Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',7,3,3,0,NULL,0,NULL,NULL,NULL,'{"text":"Lída keeps eleven goats.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Lída","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":7,"version":3,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.399Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.793Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',8,1,2,1,'2026-11-30T18:47:54.800Z',0,NULL,NULL,NULL,'{"text":"Ota flies a kite.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Ota","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":8,"version":1,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.464Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.464Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',9,1,1,0,NULL,0,'talk',0,NULL,'{"text":"Where did you go?","kind":"user","importance":5,"category":"cat_01m8pwhww204xrxz74a7e5g4hf","key":null,"confidence":null,"subject":null,"valid_from":null,"source":{"conversation":"talk","position":0,"author":"Petr","said_at":"2026-01-05T10:00:00.000Z"},"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":9,"version":1,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.531Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.531Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',10,1,1,0,NULL,0,'talk',1,9,'{"text":"We went kayaking.","kind":"user","importance":5,"category":"cat_01m8pwhww204xrxz74a7e5g4hf","key":null,"confidence":null,"subject":null,"valid_from":null,"source":{"conversation":"talk","position":1,"author":"Petr","said_at":"2026-01-05T10:00:00.000Z"},"context":"Petr: Where did you go?","context_from":9,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":10,"version":1,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.593Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.593Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',11,1,1,0,NULL,0,NULL,NULL,NULL,'{"text":"Eva paints doors, Tom mends clocks.","kind":"user","importance":7,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":"Eva","valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[5,6],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":11,"version":1,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.718Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.718Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('project#prj_01m8pwhxq43bxtj0pr34q32kvd',1,1,1,0,NULL,0,NULL,NULL,NULL,'{"text":"The rocket is red.","kind":"project","importance":5,"category":null,"key":null,"confidence":null,"subject":null,"valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"project#prj_01m8pwhxq43bxtj0pr34q32kvd","number":1,"version":1,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:54.856Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:54.856Z","reviewed_at":null}');
INSERT INTO "memory" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',12,1,1,0,NULL,0,NULL,NULL,NULL,'{"text":"The last one.","kind":"user","importance":5,"category":"cat_01m8pwhwt0812tx0bk1tss5drz","key":null,"confidence":null,"subject":null,"valid_from":null,"source":null,"context":null,"context_from":null,"derived_from":[],"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","number":12,"version":1,"state":"active","valid_to":null,"reason":null,"replaced_by":null,"recorded_at":"2026-11-30T18:47:55.025Z","recorded_by":{"kind":"person","id":"acc_01m8pwhwsnycyc8998s1hhca8r","turn":null},"updated_at":"2026-11-30T18:47:55.025Z","reviewed_at":null}');
CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        space TEXT NOT NULL,
        id TEXT NOT NULL,
        since REAL NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        next_try REAL NOT NULL DEFAULT 0,
        UNIQUE (kind, space, id)
    );
CREATE TABLE queue_message (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        grp TEXT NOT NULL,
        body TEXT NOT NULL,
        visible_at REAL NOT NULL,
        receives INTEGER NOT NULL DEFAULT 0,
        receipt TEXT,
        set_aside INTEGER NOT NULL DEFAULT 0
    );
CREATE TABLE queue_sent (deduplicate TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;
INSERT INTO "queue_sent" VALUES('job_01m8pwhxrvzq5r4k2dvyhssapr',1796064774.908);
CREATE TABLE schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "schema_version" VALUES('queue',1);
INSERT INTO "schema_version" VALUES('search',1);
INSERT INTO "schema_version" VALUES('stores',1);
CREATE TABLE scrub_owed (one INTEGER PRIMARY KEY CHECK (one = 1));
CREATE TABLE search_entry (
            generation INTEGER NOT NULL,
            space TEXT NOT NULL,
            number INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            content_hash TEXT NOT NULL,
            state TEXT,
            kind TEXT,
            importance INTEGER,
            category TEXT,
            subject TEXT,
            conversation TEXT,
            position INTEGER,
            author TEXT,
            said_at INTEGER,
            has_context INTEGER,
            recorded_at INTEGER,
            updated_at INTEGER,
            use_count INTEGER,
            last_used_at INTEGER,
            words BLOB NOT NULL,
            context BLOB NOT NULL,
            PRIMARY KEY (generation, space, number)
        ) WITHOUT ROWID;
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',1,2,'ea6b3f5f46110a7a9f61424549073782','active','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Anna',NULL,NULL,NULL,NULL,0,1796064473992,1796064474651,0,NULL,X'341486A68A35D72E01004AD773E54B0ACF6A01008D3ADF6ABF23F3A50100A89F832CDA09C4FC0100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',2,2,'493147ad4078796b110e6a216f39df86','retired','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Petr',NULL,NULL,NULL,NULL,0,1796064474068,1796064474653,0,NULL,X'BA6587C1BB84C4900100CE702B590D4CA19201004CEE66EE49EC62E801002E96F6E673E9FBF40100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',3,2,'4c99c5f25887ec2d413c085e5f12a13d','trashed','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Marie',NULL,NULL,NULL,NULL,0,1796064474149,1796064474656,0,NULL,X'1C655557AD54B5160100AD4B78A607AF9D8201004DF3EAED233D46B80100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',4,2,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,0,NULL,X'',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',5,2,'f2a324ad6ec57a151cc4c8af8d62469c','retired','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Eva',NULL,NULL,NULL,NULL,0,1796064474265,1796064474718,0,NULL,X'88B7E6D5FE603A8601000CC40F55E521189101006B850E6B42B5CA910100927DCF91FCF287DB0100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',6,2,'629bf5157d33bbc5a85809b65c7405bf','retired','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Tom',NULL,NULL,NULL,NULL,0,1796064474331,1796064474718,0,NULL,X'C6A03C78A344EA660100EC6E6D007B28FC7A0100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',7,3,'cfe1408823be1fb6981a0f02dcf4409e','active','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Lída',NULL,NULL,NULL,NULL,0,1796064474399,1796064474793,0,NULL,X'CDAAD3AB65E642360100DC655BA7EC610E78010075B2DEFFF266B8910100E34645D878F8ADEE0100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',8,2,'d159c1acdb78a4f159cc708776689392','active','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Ota',NULL,NULL,NULL,NULL,0,1796064474464,1796064474464,1,1796064474800,X'3DEB98680F68F436010032DE3D78DB7580BE0100793FFF82B7DA6FCA0100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',9,1,'3e2e767625e51ad87cdcc3b2081fb18f','active','user',5,'cat_01m8pwhww204xrxz74a7e5g4hf',NULL,'talk',0,'Petr',1767607200000,0,1796064474531,1796064474531,0,NULL,X'34E55DDCA78A1C9B01002E96F6E673E9FBF40100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',10,1,'8cc918edd118d2ede618450293bb5b1d','active','user',5,'cat_01m8pwhww204xrxz74a7e5g4hf',NULL,'talk',1,'Petr',1767607200000,1,1796064474593,1796064474593,0,NULL,X'DBC9D90AFB728F3C0100E0586FEEDA77CDDA01002E96F6E673E9FBF40100',X'34E55DDCA78A1C9B01002E96F6E673E9FBF40100');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',11,1,'9642eb54ed1df4187f55b9870aea6230','active','user',7,'cat_01m8pwhwt0812tx0bk1tss5drz','Eva',NULL,NULL,NULL,NULL,0,1796064474718,1796064474718,0,NULL,X'C6A03C78A344EA660100EC6E6D007B28FC7A010088B7E6D5FE603A8601000CC40F55E521189101006B850E6B42B5CA910100',X'');
INSERT INTO "search_entry" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r',12,1,'1f4913c1da0b945af0f5c7f10629ca96','active','user',5,'cat_01m8pwhwt0812tx0bk1tss5drz',NULL,NULL,NULL,NULL,NULL,0,1796064475025,1796064475025,0,NULL,X'B1946B85AC260C84010034F2DDAA8B7615C90100',X'');
INSERT INTO "search_entry" VALUES(1,'project#prj_01m8pwhxq43bxtj0pr34q32kvd',1,1,'df1dcd5d5598c50cba59f319e53dd02e','active','project',5,NULL,NULL,NULL,NULL,NULL,NULL,0,1796064474856,1796064474856,0,NULL,X'F7DEFFAACF13739901000DE917AF2F0A48A30100',X'');
CREATE TABLE search_generation (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state TEXT NOT NULL CHECK (state IN ('building', 'live', 'old'))
        );
INSERT INTO "search_generation" VALUES(1,'live');
CREATE TABLE search_model (
            model TEXT PRIMARY KEY,
            dimension INTEGER NOT NULL
        ) WITHOUT ROWID;
INSERT INTO "search_model" VALUES('openai-our-own-model-16-c2e60c52',16);
CREATE TABLE search_vector (
            generation INTEGER NOT NULL,
            space TEXT NOT NULL,
            model TEXT NOT NULL,
            role TEXT NOT NULL,
            number INTEGER NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (generation, space, model, role, number)
        ) WITHOUT ROWID;
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','context',10,X'87383F2F3FAF3F2F3FAF3F2F3F336FB500003FB73FB73F2F00003F2F3F2F0000');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',1,X'7030A8B670B07030A836000000007034A8B600007034A8360000000070B47030');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',2,X'553500000000000055B555B1553555B155B155B155B1553155B10000553955B1');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',3,X'22B432B60000000022B02234000022B82230223422B00000323622B022B03236');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',5,X'31B131B1000031B1313131B1000031B531B5C9B7C937000031353131313131B1');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',6,X'A835A83500000000A83500000000A835A8B500000000A835A8B5A83500000000');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',7,X'70B00000A8B670B070307030703470B40000000070300000703870B470B0A8B6');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',8,X'000047B247B247B247B2000047B647B2000047B24732B5B847B6000047324732');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',9,X'A8350000A8B1A831A831A831A8313EB800003EB8A8B5A8310000000000000000');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',10,X'1E39D33200000000D3B60000D33200000000D3B2D3B600000000D332D3320000');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',11,X'D83100000000D8B1D835D8B1D831D831D8B5D8B16238D831D831D835D8310000');
INSERT INTO "search_vector" VALUES(1,'account#acc_01m8pwhwsnycyc8998s1hhca8r','openai-our-own-model-16-c2e60c52','text',12,X'B53847B247B6000047B2473247B247364732000047B247B200004732000047B2');
INSERT INTO "search_vector" VALUES(1,'project#prj_01m8pwhxq43bxtj0pr34q32kvd','openai-our-own-model-16-c2e60c52','text',1,X'003400B8000000B000000038003000360030000000B000B60034003000000030');
CREATE TABLE space (space TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "space" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',2,'{"space":"account#acc_01m8pwhwsnycyc8998s1hhca8r","version":2,"created_at":"2026-11-30T18:47:53.920Z","default_category":"cat_01m8pwhwt0812tx0bk1tss5drz","embedded_with":["openai-our-own-model-16-c2e60c52"],"trashed_at":[]}');
INSERT INTO "space" VALUES('project#prj_01m8pwhxq43bxtj0pr34q32kvd',1,'{"space":"project#prj_01m8pwhxq43bxtj0pr34q32kvd","version":1,"created_at":"2026-11-30T18:47:54.856Z","default_category":null,"embedded_with":["openai-our-own-model-16-c2e60c52"],"trashed_at":[]}');
CREATE TABLE vector (
        space TEXT NOT NULL,
        number INTEGER NOT NULL,
        model TEXT NOT NULL,
        role TEXT NOT NULL,
        text_hash TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (space, number, model, role)
    );
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',2,'openai-our-own-model-16-c2e60c52','text','1c615173ed3cab05a0a56d1925aa61b0',X'ABAAAA3E000000000000000000000000ABAAAABEABAA2ABEABAAAA3EABAA2ABEABAA2ABEABAA2ABEABAA2ABEABAA2A3EABAA2ABE00000000ABAA2A3FABAA2ABE');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',3,'openai-our-own-model-16-c2e60c52','text','8872dd72dc5b58c66d9f36e4188bcfce',X'A53284BEF84BC6BE0000000000000000A53204BEA532843E00000000A53204BFA532043EA532843EA53204BE00000000F84BC63EA53204BEA53204BEF84BC63E');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',5,'openai-our-own-model-16-c2e60c52','text','833c8e2f6f6c9b9a34e63c7bb30c5735',X'5F1D26BE5F1D26BE000000005F1D26BE5F1D263E5F1D26BE000000005F1DA6BE5F1DA6BE0F2CF9BE0F2CF93E000000005F1DA63E5F1D263E5F1D263E5F1D26BE');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',6,'openai-our-own-model-16-c2e60c52','text','4d0c2842e33931ffb2b0c9b8f9f54603',X'F304B53EF304B53E0000000000000000F304B53E0000000000000000F304B53EF304B5BE0000000000000000F304B53EF304B5BEF304B53E0000000000000000');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',7,'openai-our-own-model-16-c2e60c52','text','d850928c5f91c7e305a25a3411d2ddad',X'D5000EBE000000004001D5BED5000EBED5000E3ED5000E3ED5008E3ED5008EBE0000000000000000D5000E3E00000000D5000E3FD5008EBED5000EBE4001D5BE');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',8,'openai-our-own-model-16-c2e60c52','text','c6c314e16f2bdc6fff9f838c49efef94',X'00000000ABD248BEABD248BEABD248BEABD248BE00000000ABD2C8BEABD248BE00000000ABD248BEABD2483E009E16BFABD2C8BE00000000ABD2483EABD2483E');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',9,'openai-our-own-model-16-c2e60c52','text','1266cb65fbec1437f84af79c81dac51d',X'F304B53E00000000F30435BEF304353EF304353EF304353EF304353EB6C307BF00000000B6C307BFF304B5BEF304353E00000000000000000000000000000000');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',10,'openai-our-own-model-16-c2e60c52','text','eabfc8bc5c5feb99ed1c05f5fb8f96c1',X'F7BC233F4A515A3E00000000000000004A51DABE000000004A515A3E00000000000000004A515ABE4A51DABE00000000000000004A515A3E4A515A3E00000000');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',10,'openai-our-own-model-16-c2e60c52','context','b085e16319215728b859ec19055120fa',X'74EE103FEDE3E73DEDE3E7BDEDE3E73DEDE3E7BDEDE3E73DEDE3673EF2EAADBE00000000EDE3E7BEEDE3E7BEEDE3E73D00000000EDE3E73DEDE3E73D00000000');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',1,'openai-our-own-model-16-c2e60c52','text','52f2bf42dac9f02fbe90476464f67da1',X'D5000E3E4001D5BED5000EBED5000E3E4001D53E0000000000000000D5008E3E4001D5BE00000000D5008E3E4001D53E0000000000000000D5008EBED5000E3E');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',11,'openai-our-own-model-16-c2e60c52','text','ce86f2fef4eff39b442da22f5ccc168f',X'BAF43A3E0000000000000000BAF43ABEBAF4BA3EBAF43ABEBAF43A3EBAF43A3EBAF4BABEBAF43ABE8C370C3FBAF43A3EBAF43A3EBAF4BA3EBAF43A3E00000000');
INSERT INTO "vector" VALUES('project#prj_01m8pwhxq43bxtj0pr34q32kvd',1,'openai-our-own-model-16-c2e60c52','text','c6a699c9cc63e3d2692190a56c4bb54c',X'0000803E000000BF00000000000000BE000000000000003F0000003E0000C03E0000003E00000000000000BE0000C0BE0000803E0000003E000000000000003E');
INSERT INTO "vector" VALUES('account#acc_01m8pwhwsnycyc8998s1hhca8r',12,'openai-our-own-model-16-c2e60c52','text','3879e91151bf987faae047d1456f3a0d',X'009E163FABD248BEABD2C8BE00000000ABD248BEABD2483EABD248BEABD2C83EABD2483E00000000ABD248BEABD248BE00000000ABD2483E00000000ABD248BE');
CREATE INDEX memory_by_place ON memory (space, conversation, position, number) WHERE position IS NOT NULL;
CREATE INDEX memory_by_context ON memory (space, context_from, number) WHERE context_from IS NOT NULL;
CREATE INDEX change_by_time ON change (space, at, seq);
CREATE INDEX change_by_group ON change (space, grp);
CREATE INDEX job_by_time ON job (space, created_at, id);
CREATE INDEX outbox_by_space ON outbox (space, kind, seq);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
CREATE INDEX entity_by_account ON entity (kind, account) WHERE account IS NOT NULL;
CREATE INDEX audit_by_time ON audit (at, seq);
CREATE UNIQUE INDEX search_generation_live ON search_generation (state) WHERE state = 'live';
CREATE UNIQUE INDEX search_generation_building ON search_generation (state) WHERE state = 'building';
CREATE INDEX queue_message_by_group ON queue_message (grp, seq) WHERE NOT set_aside;
CREATE INDEX queue_sent_by_time ON queue_sent (until);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('search_generation',1);
INSERT INTO "sqlite_sequence" VALUES('audit',2);
INSERT INTO "sqlite_sequence" VALUES('change',23);
INSERT INTO "sqlite_sequence" VALUES('outbox',26);
INSERT INTO "sqlite_sequence" VALUES('queue_message',1);
COMMIT;
PRAGMA application_id = 1349283184;
PRAGMA user_version = 1;
