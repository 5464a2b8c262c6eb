"""Creating the tables where no CDK does it: on an emulator, in tests."""

from collections.abc import Iterable

from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.tables import DEFINITIONS, TableDefinition


def create_tables(database: Database, tables: Iterable[TableDefinition] = DEFINITIONS) -> None:
    """Create the tables, with indexes, stream and expiry, paid for by request. Raises PynamoDB's TableError when one
    is there already. Emulators need no waiting; on AWS the tables come from the CDK stack."""
    for table in tables:
        _create(database, table)


def _create(database: Database, table: TableDefinition) -> None:
    name = database.name(table)
    database.connection.create_table(
        name,
        attribute_definitions=table.attributes(),
        key_schema=table.keys(),
        local_secondary_indexes=[
            {
                "index_name": index["IndexName"],
                "key_schema": index["KeySchema"],
                "projection": index["Projection"],
            }
            for index in table.indexes()
        ],
        stream_specification={"stream_enabled": True, "stream_view_type": table.stream}
        if table.stream
        else None,
        billing_mode="PAY_PER_REQUEST",
    )
    if table.expires:
        database.connection.update_time_to_live(name, table.expires)
