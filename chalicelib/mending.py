"""The commands that mend an installation, by its settings: what `Diagnosis` says beside each finding."""

from urllib.parse import urlsplit

from chalicelib.domain.diagnosis import Fixes
from chalicelib.settings import Settings, is_loopback


def fixes_for(settings: Settings) -> Fixes:
    """The commands that mend what is wrong with an installation that has these settings."""
    deployed = settings.store == "dynamodb" and settings.dynamodb_endpoint is None
    start = "make deploy" if deployed else "make run"
    ask = f"curl -sS -m 10 {settings.opensearch_url}"
    local = settings.opensearch_url is not None and is_loopback(
        urlsplit(settings.opensearch_url).hostname or ""
    )
    embedders = {
        "bundled": start if deployed else "make setup-run",
        "openai": f"curl -sS -m 10 {settings.embedding_url}/models",
        "bedrock": f"aws bedrock get-foundation-model --model-identifier {settings.embedding_model}",
    }
    stream = "StreamEnabled=true,StreamViewType=KEYS_ONLY"
    return Fixes(
        tables=start,
        streams=start
        if deployed
        else f"aws dynamodb update-table --endpoint-url {settings.dynamodb_endpoint} "
        f"--table-name {settings.table_prefix}memory --stream-specification {stream}",
        index="palimpsest index rebuild" if deployed else start,
        engine=start if settings.search == "embedded" else "make opensearch" if local else ask,
        rebuild="palimpsest index rebuild",
        reindex="palimpsest reindex --all",
        embedder=embedders.get(settings.embedder, start),
        dimension="PALIMPSEST_EMBEDDING_DIMENSION={} " + start,
        stream="palimpsest index rebuild" if deployed else start,
        queue=start,
        clock="sudo timedatectl set-ntp true",
    )
