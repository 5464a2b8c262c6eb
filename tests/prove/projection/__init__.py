"""R5, R6: the index holds what the table holds, however its projector dies and its records come.

- programs: what people do, by chance
- faults: where and how a projector and its engine fail; stream: how a table's records come to it
- engines: the index under proof, and a look at what it really keeps; compare: index against table
- equality: R5, all of it together
- differences: what is wrong in an index on purpose, for the reconciler to find; loss: an index that is dropped in use
"""
