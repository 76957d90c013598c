package dev.tonnage.client.arrow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is written is read. What is damaged is an error, and nothing worse. */
class ArrowTest {
    /** Values in which arrays of bytes compare by what they hold. */
    static Object comparable(Object value) {
        if (value instanceof byte[]) {
            return Arrays.toString((byte[]) value);
        }
        if (value instanceof List) {
            return Arrays.asList(((List<?>) value).stream().map(ArrowTest::comparable).toArray());
        }
        if (value instanceof Map) {
            Map<Object, Object> map = new java.util.LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, item) -> map.put(key, comparable(item)));
            return map;
        }
        return value;
    }

    private static byte[] stream(ArrowSchema schema, List<Object[]> rows) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ArrowWriter writer = new ArrowWriter(out);
        writer.schema(schema);
        BatchBuilder batch = new BatchBuilder(schema);
        for (Object[] row : rows) {
            batch.add(row);
        }
        writer.batch(batch, null);
        writer.words("{\"end\":{\"rows\":1}}");
        writer.end();
        return out.toByteArray();
    }

    @Test
    void randomRowsOfRandomSchemasAreReadAsTheyWereWritten() throws IOException {
        for (int seed = 0; seed < 500; seed++) {
            RandomRows random = new RandomRows(seed);
            ArrowSchema schema = random.schema();
            List<Object[]> rows = new java.util.ArrayList<>();
            for (int row = 0; row < seed % 40; row++) {
                rows.add(random.row(schema));
            }
            ArrowReader reader = new ArrowReader(new ByteArrayInputStream(stream(schema, rows)));
            assertEquals(schema, reader.schema(), "seed " + seed);
            ArrowBatch batch = reader.next();
            assertEquals(rows.size(), batch.rows(), "seed " + seed);
            for (int row = 0; row < rows.size(); row++) {
                for (int column = 0; column < schema.fields().size(); column++) {
                    assertEquals(comparable(rows.get(row)[column]),
                            comparable(batch.column(column).get(row)),
                            "seed " + seed + ", row " + row + ", " + schema.fields().get(column));
                }
            }
            assertNull(reader.next());
        }
    }

    @Test
    void damagedStreamsAreErrorsAndNothingWorse() throws IOException {
        Random random = new Random(7);
        int refused = 0;
        for (int seed = 0; seed < 4_000; seed++) {
            RandomRows rows = new RandomRows(seed);
            ArrowSchema schema = rows.schema();
            byte[] bytes = stream(schema, List.<Object[]>of(rows.row(schema), rows.row(schema)));
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                readAll(bytes);
            } catch (ArrowException | IOException error) {
                refused++;
            }
        }
        assertTrue(refused > 400, refused + " were refused");
    }

    private static void readAll(byte[] bytes) throws IOException {
        ArrowReader reader = new ArrowReader(new ByteArrayInputStream(bytes));
        for (ArrowBatch batch = reader.next(); batch != null; batch = reader.next()) {
            for (int row = 0; row < Math.min(batch.rows(), 100); row++) {
                for (int column = 0; column < batch.schema().fields().size(); column++) {
                    batch.column(column).get(row);
                }
            }
        }
    }

    @Test
    void aStreamThatIsCutAnywhereIsCutOff() throws IOException {
        RandomRows random = new RandomRows(3);
        ArrowSchema schema = random.schema();
        byte[] bytes = stream(schema, List.<Object[]>of(random.row(schema)));
        for (int end = 0; end < bytes.length; end++) {
            byte[] part = Arrays.copyOf(bytes, end);
            assertThrows(IOException.class, () -> readAll(part), "at " + end);
        }
    }

    @Test
    void aLengthThatIsOnlyToldTakesNoMemory() {
        ByteBuffer told = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        told.putInt(-1).putInt(60 << 20);
        long before = Runtime.getRuntime().totalMemory();
        assertThrows(IOException.class, () -> readAll(told.array()));
        assertTrue(Runtime.getRuntime().totalMemory() - before < (50 << 20));
        ByteBuffer large = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        large.putInt(-1).putInt(Integer.MAX_VALUE);
        assertThrows(ArrowException.class, () -> readAll(large.array()));
    }

    @Test
    void aRowThatFailsLeavesNoTrace() throws IOException {
        ArrowSchema schema = ArrowSchema.of(ArrowField.of("a", ArrowType.UTF8, true),
                ArrowField.listOf("b", ArrowField.of("item", ArrowType.BOOL, true), true),
                ArrowField.of("c", ArrowType.INT32, true));
        BatchBuilder batch = new BatchBuilder(schema);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ArrowWriter writer = new ArrowWriter(out);
        writer.schema(schema);
        for (int row = 0; row < 20; row++) {
            batch.add("x" + row, List.of(row % 2 == 0), row);
            assertThrows(ArrowException.class, () -> batch.add("lost", List.of(true), "no number"));
            assertThrows(ArrowException.class, () -> batch.add("lost", List.of(true, 5), 1));
            assertThrows(ArrowException.class, () -> batch.add("lost", null, 1L << 40));
        }
        writer.batch(batch, null);
        writer.end();
        ArrowBatch read = new ArrowReader(new ByteArrayInputStream(out.toByteArray())).next();
        assertEquals(20, read.rows());
        for (int row = 0; row < 20; row++) {
            assertEquals("x" + row, read.column("A").get(row));
            assertEquals(List.of(row % 2 == 0), read.column("b").get(row));
            assertEquals(row, read.column("c").get(row));
        }
    }

    @Test
    void valuesThatAColumnWouldRoundAreRefused() {
        Object[][] cases = {
            {ArrowType.decimal(5, 2), new BigDecimal("1.005")},
            {ArrowType.decimal(5, 2), new BigDecimal("1000.00")},
            {ArrowType.INT64, 1.5},
            {ArrowType.INT64, Double.NaN},
            {ArrowType.UINT64, -1},
            {ArrowType.timestamp(0, null), LocalDateTime.parse("2026-01-01T00:00:00.5")},
            {ArrowType.fixedBinary(4), new byte[3]},
            {ArrowType.UTF8, 5},
        };
        for (Object[] one : cases) {
            BatchBuilder batch = new BatchBuilder(
                    ArrowSchema.of(ArrowField.of("x", (ArrowType) one[0], true)));
            ArrowException error = assertThrows(ArrowException.class, () -> batch.add(one[1]));
            assertTrue(error.getMessage().contains("column x"), error.getMessage());
        }
    }

    @Test
    void columnsOfTheWrongKindAreRefusedByName() {
        ArrowType map = ArrowType.MAP;
        assertThrows(ArrowException.class, () -> new ArrowField("m", map, true,
                List.of(ArrowField.of("x", ArrowType.INT32, true)), Map.of()));
        assertThrows(ArrowException.class, () -> ArrowType.integer(3, true));
    }

    @Test
    void pairsAreListsOfComponents() throws IOException {
        ArrowField item = ArrowField.of("item", ArrowType.BINARY, true);
        ArrowSchema schema = ArrowSchema.of(ArrowField.listOf("major", item, false),
                ArrowField.listOf("minor", item, false),
                ArrowField.of("value", ArrowType.BINARY, false));
        BatchBuilder batch = new BatchBuilder(schema);
        batch.addPair(List.of(new byte[] {1}, new byte[] {2, 3}), List.of(), new byte[] {4});
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ArrowWriter writer = new ArrowWriter(out);
        writer.schema(schema);
        writer.batch(batch, "{\"id\":1}");
        writer.end();
        ArrowBatch read = new ArrowReader(new ByteArrayInputStream(out.toByteArray())).next();
        assertEquals(2, read.column(0).listEnd(0) - read.column(0).listStart(0));
        assertArrayEquals(new byte[] {2, 3}, read.column(0).children().get(0).getBytes(1));
        assertEquals(List.of(), read.column(1).get(0));
        assertArrayEquals(new byte[] {4}, read.column(2).getBytes(0));
    }
}
