package dev.tonnage.kafka;

import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.ArrowType;
import dev.tonnage.client.internal.Json;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.errors.DataException;

/**
 * What Connect's values become in columns. JSON without a schema has few types, so texts are read
 * where a column holds a date, a time, a UUID or bytes.
 */
final class ColumnValues {
    private ColumnValues() {
    }

    /**
     * A value as the column takes it.
     *
     * @param ignoresUnknown whether members that a RECORD does not have are left out; else they are
     *     an error
     */
    static Object of(ArrowField column, Object value, boolean ignoresUnknown) {
        if (value == null) {
            return null;
        }
        Object plain = plain(value);
        try {
            switch (column.type().kind()) {
                case UTF8:
                    return plain instanceof Map || plain instanceof List ? Json.write(texts(plain))
                            : plain instanceof String ? plain : String.valueOf(texts(plain));
                case DATE:
                    return plain instanceof Date ? dateTime((Date) plain).toLocalDate()
                            : plain instanceof String ? LocalDate.parse((String) plain)
                            : plain;
                case TIME:
                    return plain instanceof Date ? dateTime((Date) plain).toLocalTime()
                            : plain instanceof String ? LocalTime.parse((String) plain) : plain;
                case TIMESTAMP:
                    return timestamp(plain);
                case FIXED_BINARY:
                    return plain instanceof String ? UUID.fromString((String) plain) : plain;
                case BINARY:
                    return plain instanceof String ? Base64.getDecoder().decode((String) plain)
                            : plain;
                case DECIMAL:
                    return plain instanceof String ? new BigDecimal((String) plain) : plain;
                case LIST:
                    return list(column, plain, ignoresUnknown);
                case STRUCT:
                    return record(column, plain, ignoresUnknown);
                case MAP:
                    return map(column, plain, ignoresUnknown);
                default:
                    return plain;
            }
        } catch (DateTimeParseException | IllegalArgumentException error) {
            throw new DataException("column " + column.name() + " holds " + column.type()
                    + ", and `" + plain + "` is none: " + error.getMessage(), error);
        }
    }

    private static LocalDateTime dateTime(Date date) {
        return LocalDateTime.ofInstant(date.toInstant(), ZoneOffset.UTC);
    }

    private static Object timestamp(Object plain) {
        if (plain instanceof Date) {
            return dateTime((Date) plain);
        }
        if (plain instanceof Long) {
            return LocalDateTime.ofInstant(Instant.ofEpochMilli((Long) plain), ZoneOffset.UTC);
        }
        if (plain instanceof String) {
            String text = ((String) plain).replace(' ', 'T');
            return text.endsWith("Z") ? LocalDateTime.ofInstant(Instant.parse(text), ZoneOffset.UTC)
                    : LocalDateTime.parse(text);
        }
        return plain;
    }

    private static Object list(ArrowField column, Object plain, boolean ignoresUnknown) {
        if (!(plain instanceof List)) {
            return plain;
        }
        List<Object> items = new ArrayList<>();
        ArrowField item = column.children().get(0);
        ((List<?>) plain).forEach(value -> items.add(of(item, value, ignoresUnknown)));
        return items;
    }

    private static Object record(ArrowField column, Object plain, boolean ignoresUnknown) {
        if (!(plain instanceof Map)) {
            return plain;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        for (ArrowField member : column.children()) {
            members.put(member.name(),
                    of(member, ((Map<?, ?>) plain).get(member.name()), ignoresUnknown));
        }
        for (Object name : ((Map<?, ?>) plain).keySet()) {
            if (!ignoresUnknown && !members.containsKey(name)) {
                throw new DataException("column " + column.name() + " has no member `" + name
                        + "`: add one, or set " + SinkSettings.UNKNOWN_FIELDS + " = ignore");
            }
        }
        return members;
    }

    private static Object map(ArrowField column, Object plain, boolean ignoresUnknown) {
        if (!(plain instanceof Map)) {
            return plain;
        }
        ArrowField value = column.children().get(0).children().get(1);
        Map<String, Object> entries = new LinkedHashMap<>();
        ((Map<?, ?>) plain).forEach((key, item) -> entries.put(String.valueOf(key),
                of(value, item, ignoresUnknown)));
        return entries;
    }

    /** A value without Connect's own classes. */
    static Object plain(Object value) {
        if (value instanceof Struct) {
            return members((Struct) value);
        }
        if (value instanceof ByteBuffer) {
            ByteBuffer bytes = ((ByteBuffer) value).duplicate();
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            return copy;
        }
        return within(value, ColumnValues::plain);
    }

    /** A map or a list with each of its values changed; anything else as it is. */
    private static Object within(Object value, UnaryOperator<Object> change) {
        if (value instanceof Map) {
            Map<String, Object> entries = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, item) ->
                    entries.put(String.valueOf(key), change.apply(item)));
            return entries;
        }
        if (value instanceof Collection) {
            List<Object> items = new ArrayList<>();
            ((Collection<?>) value).forEach(item -> items.add(change.apply(item)));
            return items;
        }
        return value;
    }

    /** The fields of a record with a schema. Times of day are those of Connect's own type. */
    static Map<String, Object> members(Struct struct) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (Field field : struct.schema().fields()) {
            Object value = struct.get(field);
            boolean isTime = value instanceof Date
                    && Time.LOGICAL_NAME.equals(field.schema().name());
            members.put(field.name(), isTime ? dateTime((Date) value).toLocalTime() : plain(value));
        }
        return members;
    }

    /** What JSON has no type for, as texts. */
    private static Object texts(Object plain) {
        if (plain instanceof byte[]) {
            return Base64.getEncoder().encodeToString((byte[]) plain);
        }
        if (plain instanceof Date) {
            return dateTime((Date) plain).toString();
        }
        return plain instanceof LocalTime ? plain.toString() : within(plain, ColumnValues::texts);
    }

    /** About the bytes of a value in memory. */
    static long bytes(Object value) {
        if (value instanceof String) {
            return 48 + ((String) value).length();
        }
        if (value instanceof byte[]) {
            return 16 + ((byte[]) value).length;
        }
        long bytes = 24;
        if (value instanceof Map) {
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                bytes += 48 + bytes(entry.getKey()) + bytes(entry.getValue());
            }
        } else if (value instanceof Collection) {
            for (Object item : (Collection<?>) value) {
                bytes += 8 + bytes(item);
            }
        }
        return bytes;
    }
}
