package dev.tonnage.client.arrow;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/** Random schemas, and random rows of them. */
public final class RandomRows {
    private final Random random;

    /** The same for the same seed. */
    public RandomRows(long seed) {
        random = new Random(seed);
    }

    /** A schema of one to six columns. */
    public ArrowSchema schema() {
        List<ArrowField> fields = new ArrayList<>();
        int count = 1 + random.nextInt(6);
        for (int index = 0; index < count; index++) {
            fields.add(field("c" + index, 0));
        }
        return new ArrowSchema(fields, Map.of("for", "tests"));
    }

    private ArrowField field(String name, int depth) {
        boolean nullable = random.nextInt(4) > 0;
        switch (random.nextInt(depth < 2 ? 18 : 15)) {
            case 0:
                return ArrowField.of(name, ArrowType.BOOL, nullable);
            case 1:
                return ArrowField.of(name, ArrowType.INT32, nullable);
            case 2:
                return ArrowField.of(name, ArrowType.INT64, nullable);
            case 3:
                return ArrowField.of(name, ArrowType.UINT64, nullable);
            case 4:
                return ArrowField.of(name, ArrowType.integer(1 << random.nextInt(2), false),
                        nullable);
            case 5:
                return ArrowField.of(name, ArrowType.FLOAT32, nullable);
            case 6:
                return ArrowField.of(name, ArrowType.FLOAT64, nullable);
            case 7:
                return ArrowField.of(name, ArrowType.UTF8, nullable);
            case 8:
                return ArrowField.of(name, ArrowType.BINARY, nullable);
            case 9:
                return new ArrowField(name, ArrowType.fixedBinary(16), nullable, List.of(),
                        random.nextBoolean() ? Map.of("ARROW:extension:name", "arrow.uuid")
                        : Map.of());
            case 10:
                int precision = 1 + random.nextInt(76);
                return ArrowField.of(name, ArrowType.decimal(precision, random.nextInt(precision)),
                        nullable);
            case 11:
                return ArrowField.of(name, ArrowType.DATE, nullable);
            case 12:
                return ArrowField.of(name, ArrowType.TIME, nullable);
            case 13:
                String zone = random.nextBoolean() ? "UTC" : null;
                return ArrowField.of(name, ArrowType.timestamp(3 * random.nextInt(4), zone),
                        nullable);
            case 14:
                return ArrowField.of(name, ArrowType.NULL, true);
            case 15:
                return ArrowField.listOf(name, field("item", depth + 1), nullable);
            case 16:
                List<ArrowField> members = List.of(field("a", depth + 1), field("b", depth + 1));
                return new ArrowField(name, ArrowType.STRUCT, nullable, members, Map.of());
            default:
                List<ArrowField> entry = List.of(ArrowField.of("keys", ArrowType.UTF8, false),
                        field("values", depth + 1));
                ArrowField entries =
                        new ArrowField("entries", ArrowType.STRUCT, false, entry, Map.of());
                return new ArrowField(name, ArrowType.MAP, nullable, List.of(entries), Map.of());
        }
    }

    /** A row of a schema. */
    public Object[] row(ArrowSchema schema) {
        return schema.fields().stream().map(this::value).toArray();
    }

    /** A value of a column. */
    public Object value(ArrowField field) {
        if (field.isNullable() && random.nextInt(5) == 0) {
            return null;
        }
        ArrowType type = field.type();
        switch (type.kind()) {
            case BOOL:
                return random.nextBoolean();
            case INT:
                return whole(type);
            case FLOAT:
                return type.width() == 4 ? (Object) random.nextFloat()
                        : (Object) random.nextGaussian();
            case UTF8:
                return text();
            case BINARY:
                return bytes(random.nextInt(20));
            case FIXED_BINARY:
                return field.holdsUuids() ? (Object) new UUID(random.nextLong(), random.nextLong())
                        : bytes(type.width());
            case DECIMAL:
                BigInteger most = BigInteger.TEN.pow(type.precision());
                BigInteger digits = new BigInteger(most.bitLength() + 8, random).mod(most);
                return new BigDecimal(random.nextBoolean() ? digits : digits.negate(),
                        type.scale());
            case DATE:
                return LocalDate.ofEpochDay(random.nextInt(40_000) - 10_000);
            case TIME:
                return LocalTime.ofNanoOfDay((long) (random.nextDouble() * 86_399e9));
            case TIMESTAMP:
                return moment(type);
            case LIST:
                List<Object> items = new ArrayList<>();
                for (int count = random.nextInt(4); count > 0; count--) {
                    items.add(value(field.children().get(0)));
                }
                return items;
            case STRUCT:
                Map<String, Object> members = new LinkedHashMap<>();
                field.children().forEach(child -> members.put(child.name(), value(child)));
                return members;
            case MAP:
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int count = random.nextInt(4); count > 0; count--) {
                    map.put(text(), value(field.children().get(0).children().get(1)));
                }
                return map;
            default:
                return null;
        }
    }

    private Object whole(ArrowType type) {
        if (type.width() == 8) {
            long value = random.nextLong();
            return type.isSigned() || value >= 0 ? (Object) value
                    : (Object) new BigInteger(Long.toUnsignedString(value));
        }
        int bits = 8 * type.width();
        return type.isSigned() ? random.nextInt() >> (32 - bits) : random.nextInt() >>> (32 - bits);
    }

    private Object moment(ArrowType type) {
        long nanos = ArrowColumn.nanos(type.unit());
        long second = random.nextInt();
        long fraction = random.nextInt(1_000_000_000) / nanos * nanos;
        Instant instant = Instant.ofEpochSecond(second, fraction);
        return type.zone() != null ? (Object) instant
                : (Object) LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int count = random.nextInt(12); count > 0; count--) {
            text.appendCodePoint("aZ9 _-/äß€🚢\"\\\n".codePointAt(
                    "aZ9 _-/äß€🚢\"\\\n".offsetByCodePoints(0, random.nextInt(13))));
        }
        return text.toString();
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
