"""R1: no acknowledged write is lost, doubled or made up, whichever call of whichever part fails, and however.

- kinds: which faults each method of each port can have; a method without a decision fails the build
- injector: parts whose calls fail by the chance of a seed
- engines: faults below the ports, inside SQLite and DynamoDB
- stage, dynamo_stage: the whole service on its stores, and its restart after a kill
- customer: a client that repeats what failed under its key, as the documentation tells it to
- memories, people, communities, moves, founding: programs of real use cases
- book, register: what was acknowledged of memories, of people; comparison: what is stored of memories in the end
- run: programs one after the other, and what became of them all
"""
