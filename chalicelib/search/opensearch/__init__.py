"""The search index on OpenSearch (2.19 or newer, 3.x), reached with opensearch-py.

    index      OpenSearchIndex: the port, put together from the parts below
    queries    what is asked: every query begins with the scope
    hits       what is answered, as raw scores of our own scale
    documents  what is kept of a memory
    bulk       writing, with external versions
    rebuild    generations of indices and the change from one to the next
    layout     names and aliases, and which of them stand at the moment
    mappings   settings and fields of the two kinds of index
    client     one call to the engine: time-outs, retries, errors
    errors     every failure of the engine and its library, in our words

Words of all memories are in one index (alias `<prefix>-words`), the vectors of each embedding model in one of their
own (`<prefix>-vectors-<fingerprint>`). The library is imported on first use only.
"""
