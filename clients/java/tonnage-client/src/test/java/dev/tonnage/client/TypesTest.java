package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.RandomRows;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random values of all types of the server: what goes in by bulk put comes out by every way. */
@Timeout(120)
class TypesTest {
    private static final String TYPES =
            "i INTEGER, l LONG, f FLOAT, d DOUBLE, s STRING, b BOOLEAN, "
            + "x BINARY, xf BINARY(5), n NUMBER(12, 3), nn NUMBER(60, 10), t0 TIMESTAMP(0), "
            + "t9 TIMESTAMP(9), u UUID, da DATE, ti TIME, j JSON, a ARRAY(INTEGER), "
            + "m MAP(DOUBLE), r RECORD(p STRING, q LONG)";

    static Object comparable(Object value) {
        if (value instanceof byte[]) {
            return Arrays.toString((byte[]) value);
        }
        if (value instanceof BigDecimal) {
            return ((BigDecimal) value).stripTrailingZeros();
        }
        if (value instanceof Map) {
            return new java.util.TreeMap<>((Map<?, ?>) value).toString();
        }
        return value;
    }

    @Test
    void randomRowsComeBackAsTheyWereGiven() {
        try (TestServer server = TestServer.start(); Tonnage store = server.connect()) {
            store.define("CREATE TABLE every (id LONG, " + TYPES + ", PRIMARY KEY (id))");
            Table table = store.table("every");
            RandomRows random = new RandomRows(11);
            List<Row> rows = new ArrayList<>();
            for (int id = 0; id < 500; id++) {
                Row row = Row.of("id", id);
                for (ArrowField field : table.schema().fields()) {
                    if (field.name().equals("j")) {
                        row.set("j", "{\"n\":" + id + "}");
                    } else if (!field.name().equals("id")) {
                        row.set(field.name(), random.value(field));
                    }
                }
                rows.add(row);
            }
            ListStream<Row> stream = new ListStream<>("rows", rows);
            BulkPutReport report = store.bulkPut(table, List.of(stream), new BulkPutOptions());
            assertEquals(500, report.inserted(), stream.reasons.toString());
            try (Result result = store.sql("SELECT * FROM every ORDER BY id")) {
                List<Row> found = result.rows().toList();
                rows.forEach(row -> assertSame(row, found.get(row.getInt("id"))));
            }
            List<Row> keys = new ArrayList<>();
            rows.forEach(row -> keys.add(Row.of("id", row.get("id"))));
            try (Rows found = table.bulkGet(keys, new BulkGetOptions())) {
                int count = 0;
                for (Row row : found) {
                    assertSame(rows.get(row.getInt("id")), row);
                    count++;
                }
                assertEquals(500, count);
            }
            for (Row row : rows.subList(0, 50)) {
                Row key = Row.of("id", row.get("id"));
                assertSame(row, table.get(key));
                table.put(row);
                assertSame(row, table.get(key));
            }
        }
    }

    private static void assertSame(Row given, Row found) {
        for (int index = 0; index < given.size(); index++) {
            Object wanted = given.get(index);
            Object got = found.get(given.name(index));
            if (wanted instanceof Integer && got instanceof Long) {
                wanted = ((Integer) wanted).longValue();
            }
            assertEquals(comparable(wanted), comparable(got),
                    "row " + given.get("id") + ", " + given.name(index));
        }
    }
}
