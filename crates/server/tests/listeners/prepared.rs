//! Prepared statements over Flight SQL.

use std::sync::Arc;

use arrow::array::{
    Array, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    Time32MillisecondArray, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, TimeUnit};
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use tonic::transport::Channel;

use crate::support::{Running, SqlClient};

fn parameters(columns: Vec<Arc<dyn Array>>) -> RecordBatch {
    let fields = columns.iter().enumerate().map(|(number, column)| {
        Field::new(format!("{}", number + 1), column.data_type().clone(), true)
    });
    let schema = Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(schema.into(), columns).unwrap()
}

fn executed(client: &mut SqlClient, text: &str, bound: RecordBatch) -> Result<i64, String> {
    let SqlClient { runtime, flight } = client;
    runtime
        .block_on(async {
            let mut statement = flight.prepare(text.to_owned(), None).await?;
            statement.set_parameters(bound)?;
            statement.execute_update().await
        })
        .map_err(|error: arrow_flight::error::FlightError| error.to_string())
}

fn queried(client: &mut SqlClient, text: &str, bound: RecordBatch) -> RecordBatch {
    let SqlClient { runtime, flight } = client;
    let info = runtime.block_on(async {
        let mut statement = flight.prepare(text.to_owned(), None).await.unwrap();
        statement.set_parameters(bound).unwrap();
        statement.execute().await.unwrap()
    });
    client.fetch(&info).unwrap()
}

#[test]
fn parameters_have_the_types_of_their_places() {
    let server = Running::new();
    let mut client = server.sql();
    client
        .update("CREATE TABLE t (k LONG, v DOUBLE, b BOOLEAN, s STRING, PRIMARY KEY (k))")
        .unwrap();
    let types = |client: &mut SqlClient, text: &str| {
        let SqlClient { runtime, flight } = client;
        let statement = runtime.block_on(flight.prepare(text.to_owned(), None)).unwrap();
        let schema = statement.parameter_schema().unwrap();
        let types = schema.fields().iter().map(|field| field.data_type().clone());
        (types.collect::<Vec<_>>(), statement.dataset_schema().unwrap().fields().len())
    };
    use DataType::{Boolean, Float64, Int64, Utf8};
    assert_eq!(
        types(&mut client, "INSERT INTO t (s, k, b) VALUES (?, ?, ?)"),
        (vec![Utf8, Int64, Boolean], 0)
    );
    assert_eq!(
        types(&mut client, "UPDATE t SET v = ?, s = ? WHERE k BETWEEN ? AND ? AND b = ?"),
        (vec![Float64, Utf8, Int64, Int64, Boolean], 0)
    );
    assert_eq!(types(&mut client, "DELETE FROM t WHERE k IN (?, ?)"), (vec![Int64, Int64], 0));
    assert_eq!(
        types(&mut client, "SELECT k, s FROM t WHERE v < ? AND s LIKE ? LIMIT ?"),
        (vec![Float64, Utf8, Int64], 2)
    );
    assert_eq!(types(&mut client, "SELECT ? AS a"), (vec![Utf8], 1));
    assert_eq!(types(&mut client, "SELECT * FROM t WHERE k = $2 AND b = $1").0, [Boolean, Int64]);
}

#[test]
fn an_insert_takes_many_rows_of_parameters_and_null() {
    let server = Running::new();
    let mut client = server.sql();
    let ids = Int64Array::from_iter_values(0..1_250);
    let names: StringArray =
        (0..1_250).map(|id| (id % 3 > 0).then(|| format!("ship {id}"))).collect();
    let bound = parameters(vec![Arc::new(ids), Arc::new(names)]);
    let text = "INSERT INTO ships (id, name) VALUES (?, ?)";
    assert_eq!(executed(&mut client, text, bound), Ok(1_250));
    assert_eq!(client.number("SELECT count(*) FROM ships WHERE name IS NULL"), 417);
    let found = client.query("SELECT name FROM ships WHERE id = 1249").unwrap();
    assert_eq!(found.column(0).as_string::<i32>().value(0), "ship 1249");
}

#[test]
fn rows_that_fail_name_their_place_and_those_before_stay() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (700, 'there')").unwrap();
    let bound = parameters(vec![Arc::new(Int64Array::from_iter_values(0..1_000))]);
    let text = "INSERT INTO ships (id) VALUES (?)";
    let error = executed(&mut client, text, bound).unwrap_err();
    assert!(error.contains("rows 500 to 999"), "{error}");
    assert_eq!(server.rows(), 501);
}

#[test]
fn updates_and_deletes_run_for_each_row() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a'), (2, 'b'), (3, 'c')").unwrap();
    let ids = || Arc::new(Int64Array::from(vec![1, 3, 9]));
    let names = Arc::new(StringArray::from(vec![Some("x"), None, Some("z")]));
    let text = "UPDATE ships SET name = ? WHERE id = ?";
    assert_eq!(executed(&mut client, text, parameters(vec![names, ids()])), Ok(2));
    assert_eq!(client.number("SELECT count(*) FROM ships WHERE name IS NULL AND id = 3"), 1);
    let text = "DELETE FROM ships WHERE id = ?";
    assert_eq!(executed(&mut client, text, parameters(vec![ids()])), Ok(2));
    assert_eq!(server.rows(), 1);
}

#[test]
fn a_query_gives_the_rows_for_each_row_of_parameters() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a'), (2, 'b'), (3, 'c')").unwrap();
    let bound = parameters(vec![Arc::new(Int64Array::from(vec![3, 1, 9]))]);
    let found = queried(&mut client, "SELECT id FROM ships WHERE id = ?", bound);
    assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), &[3, 1]);
}

#[test]
fn values_of_other_types_than_their_places_are_compared_as_sql_does() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a'), (2, 'b')").unwrap();
    let bound: [Arc<dyn Array>; 2] =
        [Arc::new(Float64Array::from(vec![1.0])), Arc::new(StringArray::from(vec!["1"]))];
    for column in bound {
        let found =
            queried(&mut client, "SELECT name FROM ships WHERE id = ?", parameters(vec![column]));
        assert_eq!(found.num_rows(), 1);
    }
    let truth = parameters(vec![Arc::new(BooleanArray::from(vec![true]))]);
    assert_eq!(queried(&mut client, "SELECT id FROM ships WHERE ?", truth).num_rows(), 2);
}

#[test]
fn too_few_parameters_are_told() {
    let server = Running::new();
    let mut client = server.sql();
    let bound = parameters(vec![Arc::new(Int64Array::from(vec![1]))]);
    let error = executed(&mut client, "INSERT INTO ships VALUES (?, ?)", bound).unwrap_err();
    assert!(error.contains("2 parameters") && error.contains("1 are bound"), "{error}");
}

#[test]
fn a_closed_statement_is_gone() {
    let server = Running::new();
    let mut client = server.sql();
    let SqlClient { runtime, flight } = &mut client;
    let mut statement = runtime.block_on(flight.prepare("SELECT 1".to_owned(), None)).unwrap();
    let mut again = statement.clone();
    assert!(runtime.block_on(statement.execute()).is_ok());
    runtime.block_on(statement.close()).unwrap();
    let error = runtime.block_on(again.execute()).unwrap_err();
    assert!(error.to_string().contains("prepare it again"), "{error}");
}

#[test]
fn what_cannot_be_prepared_is_told_with_its_place() {
    let server = Running::new();
    let mut client = server.sql();
    for (text, said) in [
        ("SELECT * FROM boats", "line 1, column 15"),
        ("SELEC 1", "line 1, column 1"),
        ("INSERT INTO ships VALUES (?, $1)", "both ? and $n"),
    ] {
        let SqlClient { runtime, flight } = &mut client;
        let error = runtime.block_on(flight.prepare(text.to_owned(), None)).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

/// A client that gives itself a name, as drivers do.
fn client_called(server: &Running, name: &'static str) -> SqlClient {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let address = format!("http://{}", server.flight_address());
    let endpoint = Channel::from_shared(address).unwrap().user_agent(name).unwrap();
    let channel = runtime.block_on(endpoint.connect()).unwrap();
    let flight = FlightSqlServiceClient::new_from_inner(FlightServiceClient::new(channel));
    SqlClient { runtime, flight }
}

/// The JDBC driver always binds milliseconds, and got years such as 51969.
#[test]
fn a_driver_that_binds_milliseconds_is_told_of_milliseconds() {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let server = Running::new();
    let ddl = "CREATE TABLE m (k LONG, t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), \
               t9 TIMESTAMP(9), c TIME, d DATE, PRIMARY KEY (k))";
    server.sql().update(ddl).unwrap();
    let types = |name: &'static str, text: &str| {
        let SqlClient { runtime, mut flight } = client_called(&server, name);
        let statement = runtime.block_on(flight.prepare(text.to_owned(), None)).unwrap();
        let schema = statement.parameter_schema().unwrap().clone();
        let rows = statement.dataset_schema().unwrap().clone();
        let types = |schema: &Schema| -> Vec<DataType> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        (types(&schema), types(&rows))
    };
    let moment = |unit| DataType::Timestamp(unit, None);
    let insert = "INSERT INTO m (t0, t3, t6, t9, c, d) VALUES (?, ?, ?, ?, ?, ?)";
    let told = [Second, Millisecond, Microsecond, Nanosecond].map(moment);
    let told: Vec<_> =
        told.into_iter().chain([DataType::Time64(Nanosecond), DataType::Date32]).collect();
    let milliseconds: Vec<_> = std::iter::repeat_n(moment(Millisecond), 4)
        .chain([DataType::Time32(Millisecond), DataType::Date32])
        .collect();
    for (name, wanted) in [
        ("grpc-java-netty/1.71.0", &milliseconds),
        ("some program grpc-java-okhttp/1.80.0", &milliseconds),
        ("ADBC Flight SQL Driver v1.13.0 grpc-go/1.84.0", &told),
        ("grpc-c++/1.71.0 grpc-c/46.0.0", &told),
    ] {
        assert_eq!(&types(name, insert).0, wanted, "{name}");
    }
    // What is written, compared and read: the answer keeps its types.
    let (asked, rows) =
        types("grpc-java-netty/1.71.0", "SELECT t9, c FROM m WHERE t9 < ? AND c > ?");
    assert_eq!(asked, [moment(Millisecond), DataType::Time32(Millisecond)]);
    assert_eq!(rows, [moment(Nanosecond), DataType::Time64(Nanosecond)]);
    let update = "UPDATE m SET c = ? WHERE t0 = ?";
    let (asked, _) = types("grpc-java-netty/1.71.0", update);
    assert_eq!(asked, [DataType::Time32(Millisecond), moment(Millisecond)]);
}

#[test]
fn milliseconds_are_stored_in_columns_of_every_precision() {
    let server = Running::new();
    let mut client = server.sql();
    let ddl = "CREATE TABLE m (k LONG, t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), \
               t9 TIMESTAMP(9), c TIME, PRIMARY KEY (k))";
    client.update(ddl).unwrap();
    let moment = |at: i64| -> Arc<dyn Array> {
        Arc::new(TimestampMillisecondArray::from(vec![Some(at), None]))
    };
    let clock = Time32MillisecondArray::from(vec![Some(25_689_123), None]);
    let ids = Int64Array::from(vec![1, 2]);
    let bound = parameters(vec![
        Arc::new(ids),
        moment(1_714_979_289_000),
        moment(1_714_979_289_123),
        moment(1_714_979_289_123),
        moment(1_714_979_289_123),
        Arc::new(clock),
    ]);
    assert_eq!(executed(&mut client, "INSERT INTO m VALUES (?, ?, ?, ?, ?, ?)", bound), Ok(2));
    let same = "SELECT count(*) FROM m WHERE t0 = '2024-05-06 07:08:09' AND c = '07:08:09.123' \
                AND t3 = '2024-05-06 07:08:09.123' AND t6 = t3 AND t9 = t3";
    assert_eq!(client.number(same), 1);
    assert_eq!(client.number("SELECT count(*) FROM m WHERE t0 IS NULL AND c IS NULL"), 1);
    let bound = parameters(vec![moment(1_714_979_289_123)]);
    let found = queried(&mut client, "SELECT k FROM m WHERE t9 = ?", bound);
    assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), &[1]);
}

/// They could not be prepared, and drivers prepare whatever they run.
#[test]
fn summaries_can_be_prepared_and_a_checkpoint_names_its_remedy() {
    let server = Running::new();
    let mut client = server.sql();
    client.update("INSERT INTO ships VALUES (1, 'a'), (2, NULL)").unwrap();
    let SqlClient { runtime, flight } = &mut client;
    let info = runtime.block_on(async {
        let mut statement = flight.prepare("SUMMARIZE ships".to_owned(), None).await.unwrap();
        assert_eq!(statement.dataset_schema().unwrap().fields().len(), 7);
        statement.execute().await.unwrap()
    });
    assert_eq!(client.fetch(&info).unwrap().num_rows(), 2);
    let none = RecordBatch::new_empty(Schema::empty().into());
    let error = executed(&mut client, "CHECKPOINT", none).unwrap_err();
    assert!(error.contains("tonnage.Sync") && error.contains("/v1/admin/sync"), "{error}");
    let error = client.update("CHECKPOINT").unwrap_err();
    assert!(error.contains("tonnage.Sync"), "{error}");
}
