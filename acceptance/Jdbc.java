import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

/** The JDBC driver of Flight SQL against a server. Prints one line a case. */
public class Jdbc {
    private interface Case {
        void run(Connection connection) throws Exception;
    }

    private static String url;

    public static void main(String[] arguments) {
        url = "jdbc:arrow-flight-sql://" + arguments[0] + "/?useEncryption=false";
        every("every_metadata_method_without_typical_arguments", c -> metadata(c, false, false));
        every("every_metadata_method_with_typical_arguments", c -> metadata(c, true, false));
        every("every_metadata_method_is_more_than_a_stub_of_the_driver", c -> metadata(c, true, true));
        every("tables_columns_and_keys_are_told", Jdbc::tables);
        every("statements_query_and_update", Jdbc::statements);
        every("parameters_of_every_type_and_null", Jdbc::parameters);
        every("moments_of_every_precision_are_stored_as_they_are_given", Jdbc::moments);
        every("types_that_the_driver_does_not_read_come_as_others", Jdbc::types);
        every("execute_batch_of_10000_rows", Jdbc::batch);
        every("execute_batch_of_updates", Jdbc::updates);
        every("a_large_answer_is_read", Jdbc::large);
        every("errors_are_sql_exceptions_with_their_place", Jdbc::errors);
        every("a_long_statement_is_cancelled", Jdbc::cancel);
        every("a_closed_result_frees_its_statement", Jdbc::closed);
        properties("a_user_with_a_password_connects", "user", "ann", "password", "a:b");
        properties("a_catalog_is_set", "catalog", "tonnage");
        properties("a_token_connects", "token", "anything");
    }

    private static Connection connect(String... properties) throws SQLException {
        Properties all = new Properties();
        for (int at = 0; at < properties.length; at += 2) {
            all.put(properties[at], properties[at + 1]);
        }
        return DriverManager.getConnection(url, all);
    }

    private static void every(String name, Case run) {
        try {
            try (Connection connection = connect()) {
                run.run(connection);
            }
            System.out.println(name + ": pass");
        } catch (Throwable error) {
            failed(name, error);
        }
    }

    private static void failed(String name, Throwable error) {
        System.out.println(name + ": FAIL " + String.valueOf(error).replace('\n', ' '));
        if (System.getenv("TONNAGE_ACCEPTANCE_TRACE") != null) {
            error.printStackTrace();
        }
    }

    private static void properties(String name, String... properties) {
        try {
            try (Connection connection = connect(properties);
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT 1")) {
                check(rows.next() && rows.getInt(1) == 1, "one row");
            }
            System.out.println(name + ": pass");
        } catch (Throwable error) {
            failed(name, error);
        }
    }

    private static void check(boolean is, String what) {
        if (!is) {
            throw new AssertionError(what);
        }
    }

    private static void define(Connection connection, String name, String columns) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("DROP TABLE IF EXISTS " + name + ".calls");
            statement.executeUpdate("DROP TABLE IF EXISTS " + name);
            statement.executeUpdate("CREATE TABLE " + name + " (" + columns + ")");
        }
    }

    /**
     * Calls every method; with typical arguments, or with null and false. A stub of the driver, which
     * asks the server nothing, counts as a failure only where stubs are looked for.
     */
    private static void metadata(Connection connection, boolean typical, boolean stubs) throws Exception {
        define(connection, "ships", "id LONG, name STRING, PRIMARY KEY (id)");
        DatabaseMetaData metadata = connection.getMetaData();
        List<String> failed = new ArrayList<>();
        int called = 0;
        for (Method method : DatabaseMetaData.class.getMethods()) {
            Object[] arguments = new Object[method.getParameterCount()];
            for (int at = 0; at < arguments.length; at++) {
                arguments[at] = argument(method, at, typical);
            }
            called++;
            try {
                Object answer = method.invoke(metadata, arguments);
                if (answer instanceof ResultSet rows) {
                    while (rows.next()) {
                        for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
                            rows.getObject(column);
                        }
                    }
                    rows.close();
                }
            } catch (InvocationTargetException error) {
                boolean stub = String.valueOf(error.getCause()).endsWith("todo: implement this method");
                if (stub == stubs) {
                    failed.add(method.getName() + ": " + error.getCause());
                }
            }
        }
        System.out.println("# " + called + " methods called, " + failed.size() + " failed");
        failed.forEach(line -> System.out.println("#   " + line.replace('\n', ' ')));
        check(failed.isEmpty(), failed.size() + " of " + called + " failed, first " + failed);
    }

    private static Object argument(Method method, int at, boolean typical) {
        Class<?> type = method.getParameterTypes()[at];
        if (type == int.class) {
            return switch (method.getName()) {
                case "supportsTransactionIsolationLevel" -> Connection.TRANSACTION_NONE;
                case "supportsResultSetConcurrency" ->
                    at == 0 ? ResultSet.TYPE_FORWARD_ONLY : ResultSet.CONCUR_READ_ONLY;
                case "supportsResultSetType" -> ResultSet.TYPE_FORWARD_ONLY;
                default -> typical ? Types.INTEGER : 0;
            };
        }
        if (type == boolean.class) {
            return typical;
        }
        if (type == Class.class) {
            return DatabaseMetaData.class;
        }
        if (!typical || type.isArray()) {
            // A table is needed where keys are asked for.
            boolean needed = type == String.class && method.getName().matches("get.*Keys|getCrossReference|getBest.*|getVersion.*|getIndexInfo") && at % 3 == 2;
            return needed ? "ships" : null;
        }
        return switch (at % 3) {
            case 0 -> "tonnage";
            case 1 -> "public";
            default -> "ships";
        };
    }

    private static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> values = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                values.add(rows.getString(name));
            }
        }
        return values;
    }

    private static void tables(Connection connection) throws SQLException {
        define(connection, "ships", "id LONG, name STRING, tons NUMBER(10, 2), PRIMARY KEY (id)");
        define(connection, "ships.calls", "port LONG, PRIMARY KEY (port)");
        DatabaseMetaData metadata = connection.getMetaData();
        List<String> tables = column(metadata.getTables(null, null, "ships%", null), "TABLE_NAME");
        check(tables.containsAll(List.of("ships", "ships.calls")), "tables " + tables);
        try (ResultSet columns = metadata.getColumns(null, null, "ships", "%")) {
            check(columns.next() && columns.getString("COLUMN_NAME").equals("id"), "first column");
            check(columns.getInt("DATA_TYPE") == Types.BIGINT, "type of id");
            check(columns.next() && columns.next() && columns.getString("COLUMN_NAME").equals("tons"), "third");
            check(columns.getInt("COLUMN_SIZE") == 10 && columns.getInt("DECIMAL_DIGITS") == 2, "digits");
        }
        List<String> keys = column(metadata.getPrimaryKeys(null, null, "ships.calls"), "COLUMN_NAME");
        check(keys.equals(List.of("id", "port")), "key " + keys);
        List<String> parents = column(metadata.getImportedKeys(null, null, "ships.calls"), "PKTABLE_NAME");
        check(parents.equals(List.of("ships")), "parents " + parents);
        check(metadata.getDatabaseProductName().equals("Tonnage"), "name");
    }

    private static void statements(Connection connection) throws SQLException {
        define(connection, "ships", "id LONG, name STRING, PRIMARY KEY (id)");
        try (Statement statement = connection.createStatement()) {
            check(statement.executeUpdate("INSERT INTO ships VALUES (1, 'a'), (2, NULL)") == 2, "inserted");
            check(statement.executeUpdate("UPDATE ships SET name = 'x' WHERE id = 2") == 1, "updated");
            ResultSet rows = statement.executeQuery("SELECT id, name FROM ships ORDER BY id");
            ResultSetMetaData columns = rows.getMetaData();
            check(columns.getColumnCount() == 2 && columns.getColumnName(2).equals("name"), "columns");
            check(rows.next() && rows.getLong(1) == 1 && rows.getString(2).equals("a"), "first row");
            check(rows.next() && rows.getString("name").equals("x") && !rows.next(), "second row");
            check(statement.execute("SELECT 1"), "a query");
            check(!statement.execute("DELETE FROM ships"), "no query");
            check(statement.getUpdateCount() == 2, "deleted");
        }
    }

    private static void parameters(Connection connection) throws SQLException {
        define(connection, "kinds", "k LONG, i INTEGER, f FLOAT, d DOUBLE, n NUMBER(10, 2), s STRING, "
                + "b BOOLEAN, y BINARY, t TIMESTAMP(3), da DATE, PRIMARY KEY (k)");
        Timestamp moment = Timestamp.valueOf("2024-05-06 07:08:09.123");
        String text = "INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement insert = connection.prepareStatement(text)) {
            insert.setLong(1, 1);
            insert.setInt(2, 5);
            insert.setFloat(3, 1.5f);
            insert.setDouble(4, 2.5);
            insert.setBigDecimal(5, new BigDecimal("12.34"));
            insert.setString(6, "x");
            insert.setBoolean(7, true);
            insert.setBytes(8, new byte[] {1, 2});
            insert.setTimestamp(9, moment);
            insert.setDate(10, Date.valueOf("2024-05-06"));
            check(insert.executeUpdate() == 1, "inserted");
            insert.setLong(1, 2);
            for (int at = 2; at <= 10; at++) {
                insert.setNull(at, Types.NULL);
            }
            check(insert.executeUpdate() == 1, "inserted NULL");
        }
        try (PreparedStatement select = connection.prepareStatement("SELECT * FROM kinds WHERE k = ?")) {
            select.setLong(1, 1);
            ResultSet rows = select.executeQuery();
            check(rows.next(), "a row");
            check(rows.getInt(2) == 5 && rows.getFloat(3) == 1.5f && rows.getDouble(4) == 2.5, "numbers");
            check(rows.getBigDecimal(5).equals(new BigDecimal("12.34")), "decimal " + rows.getBigDecimal(5));
            check(rows.getString(6).equals("x") && rows.getBoolean(7), "text and truth");
            check(Arrays.equals(rows.getBytes(8), new byte[] {1, 2}), "bytes");
            check(rows.getTimestamp(9).equals(moment), "moment " + rows.getTimestamp(9));
            check(rows.getDate(10).toString().equals("2024-05-06"), "day " + rows.getDate(10));
            select.setLong(1, 2);
            rows = select.executeQuery();
            check(rows.next() && rows.getObject(6) == null && rows.wasNull(), "NULL");
        }
    }

    /** The driver binds milliseconds, whatever unit the server names. */
    private static void moments(Connection connection) throws SQLException {
        StringBuilder columns = new StringBuilder("k LONG, c TIME");
        StringBuilder texts = new StringBuilder("CAST(c AS STRING) AS c");
        for (int digits = 0; digits <= 9; digits++) {
            columns.append(", t").append(digits).append(" TIMESTAMP(").append(digits).append(")");
            texts.append(", CAST(t").append(digits).append(" AS STRING) AS t").append(digits);
        }
        define(connection, "moments", columns + ", PRIMARY KEY (k)");
        String text = "INSERT INTO moments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement insert = connection.prepareStatement(text)) {
            insert.setLong(1, 1);
            insert.setTime(2, Time.valueOf("07:08:09"));
            for (int digits = 0; digits <= 9; digits++) {
                insert.setTimestamp(digits + 3, moment(digits));
            }
            check(insert.executeUpdate() == 1, "inserted");
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT " + texts + " FROM moments")) {
            check(rows.next() && rows.getString("c").startsWith("07:08:09"), "time " + rows.getString("c"));
            for (int digits = 0; digits <= 9; digits++) {
                String stored = rows.getString("t" + digits).replace('T', ' ');
                String wanted = moment(digits).toString().replaceAll("\\.0$", "");
                check(stored.startsWith(wanted), "TIMESTAMP(" + digits + ") is " + stored);
            }
        }
        for (int digits = 0; digits <= 9; digits++) {
            String query = "SELECT count(*) FROM moments WHERE t" + digits + " = ?";
            try (PreparedStatement select = connection.prepareStatement(query)) {
                select.setTimestamp(1, moment(digits));
                ResultSet rows = select.executeQuery();
                check(rows.next() && rows.getInt(1) == 1, "found by t" + digits);
            }
        }
    }

    /** The finest moment that a precision and the driver's milliseconds both have. */
    private static Timestamp moment(int digits) {
        String fraction = ".123".substring(0, Math.min(digits, 3) + 1);
        return Timestamp.valueOf("2024-05-06 07:08:09" + (digits == 0 ? "" : fraction));
    }

    private static void types(Connection connection) throws SQLException {
        String[][] cases = {
            {"arrow_cast(1.5, 'Float16')", "1.5"},
            {"arrow_cast('a', 'Utf8View')", "a"},
            {"arrow_cast('a', 'Dictionary(Int32, Utf8)')", "a"},
            {"arrow_cast(1.25, 'Decimal32(5, 2)')", "1.25"},
            {"arrow_cast(1.25, 'Decimal64(5, 2)')", "1.25"},
            {"arrow_cast([1, 2], 'ListView(Int64)')", "[1,2]"},
            {"arrow_cast(['a'], 'List(Dictionary(Int32, Utf8))')", "[\"a\"]"},
        };
        try (Statement statement = connection.createStatement()) {
            for (String[] pair : cases) {
                ResultSet rows = statement.executeQuery("SELECT " + pair[0] + " AS v");
                check(rows.next(), pair[0]);
                check(pair[1].equals(rows.getString(1)), pair[0] + " is " + rows.getString(1));
            }
        }
    }

    private static void batch(Connection connection) throws SQLException {
        define(connection, "ships", "id LONG, name STRING, PRIMARY KEY (id)");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO ships VALUES (?, ?)")) {
            for (int id = 0; id < 10_000; id++) {
                insert.setLong(1, id);
                insert.setString(2, "ship " + id);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*), max(name) FROM ships")) {
            check(rows.next() && rows.getLong(1) == 10_000, "rows " + rows.getLong(1));
            check(rows.getString(2).equals("ship 9999"), "last " + rows.getString(2));
        }
    }

    private static void updates(Connection connection) throws SQLException {
        batch(connection);
        String text = "UPDATE ships SET name = ? WHERE id = ?";
        try (PreparedStatement update = connection.prepareStatement(text)) {
            for (int id = 0; id < 100; id++) {
                update.setString(1, "x");
                update.setLong(2, id * 2);
                update.addBatch();
            }
            update.executeBatch();
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM ships WHERE name = 'x'")) {
            check(rows.next() && rows.getLong(1) == 100, "rows " + rows.getLong(1));
        }
    }

    private static void large(Connection connection) throws SQLException {
        String text = "SELECT x FROM generate_series(1, 2000000) AS t (x)";
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(text)) {
            long count = 0;
            while (rows.next()) {
                count++;
            }
            check(count == 2_000_000, "rows " + count);
        }
    }

    private static void errors(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT * FROM boats");
        } catch (SQLException error) {
            String all = error + " " + error.getCause();
            check(all.contains("line 1, column 15"), all);
            return;
        }
        throw new AssertionError("no error");
    }

    private static final String LONG = "SELECT count(*) FROM generate_series(1, 1000000) AS a (x), "
            + "generate_series(1, 1000000) AS b (y) WHERE x * y % 7 = 3";

    private static void cancel(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement()) {
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(1_000);
                    statement.cancel();
                } catch (Exception error) {
                    System.out.println("# cancel: " + error);
                }
            });
            canceller.start();
            long started = System.nanoTime();
            try (ResultSet rows = statement.executeQuery(LONG)) {
                rows.next();
                throw new AssertionError("no error");
            } catch (SQLException expected) {
                check(System.nanoTime() - started < 30_000_000_000L, "it took too long");
            }
            canceller.join();
        }
    }

    private static void closed(Connection connection) throws SQLException {
        for (int round = 0; round < 200; round++) {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT x FROM generate_series(1, 100000) AS t (x)")) {
                check(rows.next(), "a row");
            }
        }
    }
}
