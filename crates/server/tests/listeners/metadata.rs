//! What tools ask of a server before they show anything.

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Schema};
use arrow_flight::sql::{
    CommandGetCrossReference, CommandGetDbSchemas, CommandGetExportedKeys, CommandGetImportedKeys,
    CommandGetPrimaryKeys, CommandGetTables, CommandGetXdbcTypeInfo, SqlInfo,
};
use arrow_flight::{FlightInfo, IpcMessage};

use crate::support::{Running, SqlClient};

/// A macro would hide less, but a call of the client is async and borrows it.
fn asked<F>(client: &mut SqlClient, ask: F) -> RecordBatch
where
    F: AsyncFnOnce(
        &mut arrow_flight::sql::client::FlightSqlServiceClient<tonic::transport::Channel>,
    ) -> Result<FlightInfo, arrow_flight::error::FlightError>,
{
    let SqlClient { runtime, flight } = client;
    let info = runtime.block_on(ask(flight)).unwrap();
    let batch = client.fetch(&info).unwrap();
    assert_eq!(info.try_decode_schema().unwrap(), *batch.schema());
    batch
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).unwrap().as_string::<i32>();
    column.iter().flatten().map(str::to_owned).collect()
}

fn with_children() -> Running {
    let server = Running::new();
    server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
    server.store.execute("CREATE TABLE ports (port LONG, PRIMARY KEY (port))").unwrap();
    server
}

#[test]
fn there_is_one_catalog_with_one_schema() {
    let server = Running::new();
    let mut client = server.sql();
    let catalogs = asked(&mut client, async |client| client.get_catalogs().await);
    assert_eq!(texts(&catalogs, "catalog_name"), ["tonnage"]);
    let all = CommandGetDbSchemas { catalog: None, db_schema_filter_pattern: None };
    let schemas = asked(&mut client, async |client| client.get_db_schemas(all).await);
    assert_eq!(texts(&schemas, "db_schema_name"), ["public"]);
    let types = asked(&mut client, async |client| client.get_table_types().await);
    assert_eq!(texts(&types, "table_type"), ["TABLE"]);
}

fn tables(pattern: Option<&str>, include_schema: bool) -> CommandGetTables {
    CommandGetTables {
        catalog: None,
        db_schema_filter_pattern: None,
        table_name_filter_pattern: pattern.map(str::to_owned),
        table_types: Vec::new(),
        include_schema,
    }
}

#[test]
fn tables_are_told_by_their_paths_and_found_by_patterns() {
    let server = with_children();
    let mut client = server.sql();
    let mut names = |pattern| {
        let command = tables(pattern, false);
        let found = asked(&mut client, async |client| client.get_tables(command).await);
        texts(&found, "table_name")
    };
    assert_eq!(names(None), ["ports", "ships", "ships.calls"]);
    assert_eq!(names(Some("ships%")), ["ships", "ships.calls"]);
    assert_eq!(names(Some("p_rts")), ["ports"]);
    assert_eq!(names(Some("boats")), Vec::<String>::new());
}

#[test]
fn the_schema_of_a_table_tells_the_names_of_its_types() {
    let server = Running::new();
    server.store.execute("CREATE TABLE sums (k LONG, n NUMBER(10, 2), PRIMARY KEY (k))").unwrap();
    let mut client = server.sql();
    let command = tables(Some("sums"), true);
    let found = asked(&mut client, async |client| client.get_tables(command).await);
    let bytes = found.column_by_name("table_schema").unwrap().as_binary::<i32>().value(0);
    let schema = Schema::try_from(IpcMessage(bytes.to_vec().into())).unwrap();
    let told = |name: &str| schema.field(1).metadata().get(name).cloned().unwrap_or_default();
    assert_eq!(told("ARROW:FLIGHT:SQL:TYPE_NAME"), "NUMBER");
    assert_eq!(told("ARROW:FLIGHT:SQL:PRECISION"), "10");
    assert_eq!(told("ARROW:FLIGHT:SQL:SCALE"), "2");
}

#[test]
fn the_columns_of_a_key_come_in_order() {
    let server = with_children();
    let mut client = server.sql();
    let command =
        CommandGetPrimaryKeys { catalog: None, db_schema: None, table: "ships.calls".into() };
    let keys = asked(&mut client, async |client| client.get_primary_keys(command).await);
    assert_eq!(texts(&keys, "column_name"), ["id", "port"]);
    let sequence = keys.column_by_name("key_sequence").unwrap().as_primitive::<Int32Type>();
    assert_eq!(sequence.values(), &[1, 2]);
}

#[test]
fn a_child_refers_to_its_parent() {
    let server = with_children();
    let mut client = server.sql();
    let imported =
        CommandGetImportedKeys { catalog: None, db_schema: None, table: "ships.calls".into() };
    let exported = CommandGetExportedKeys { catalog: None, db_schema: None, table: "ships".into() };
    let crossed = CommandGetCrossReference {
        pk_catalog: None,
        pk_db_schema: None,
        pk_table: "ships".into(),
        fk_catalog: None,
        fk_db_schema: None,
        fk_table: "ships.calls".into(),
    };
    let none = CommandGetImportedKeys { catalog: None, db_schema: None, table: "ports".into() };
    let found = [
        asked(&mut client, async |client| client.get_imported_keys(imported).await),
        asked(&mut client, async |client| client.get_exported_keys(exported).await),
        asked(&mut client, async |client| client.get_cross_reference(crossed).await),
    ];
    for keys in found {
        assert_eq!(texts(&keys, "pk_table_name"), ["ships"]);
        assert_eq!(texts(&keys, "fk_table_name"), ["ships.calls"]);
        assert_eq!(texts(&keys, "fk_column_name"), ["id"]);
    }
    let nothing = asked(&mut client, async |client| client.get_imported_keys(none).await);
    assert_eq!(nothing.num_rows(), 0);
}

#[test]
fn types_and_what_the_server_can_do_are_told() {
    let server = Running::new();
    let mut client = server.sql();
    let all = CommandGetXdbcTypeInfo { data_type: None };
    let types = asked(&mut client, async |client| client.get_xdbc_type_info(all).await);
    assert_eq!(types.num_rows(), 14);
    let one = CommandGetXdbcTypeInfo { data_type: Some(-5) };
    let types = asked(&mut client, async |client| client.get_xdbc_type_info(one).await);
    assert_eq!(texts(&types, "type_name"), ["LONG"]);
    let wanted = vec![SqlInfo::FlightSqlServerName, SqlInfo::FlightSqlServerTransaction];
    let infos = asked(&mut client, async |client| client.get_sql_info(wanted).await);
    assert_eq!(infos.num_rows(), 2);
}
