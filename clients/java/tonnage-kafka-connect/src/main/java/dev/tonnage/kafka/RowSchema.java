package dev.tonnage.kafka;

import dev.tonnage.client.Row;
import dev.tonnage.client.arrow.ArrowField;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;

/**
 * What columns become in records. Connect counts milliseconds: times and timestamps with more
 * digits become texts in the form of ISO 8601, so that none of them is rounded.
 */
final class RowSchema {
    private static final int MILLISECOND_DIGITS = 3;
    private static final long DAY_MS = 86_400_000;

    private final Schema schema;
    private final List<ArrowField> columns;

    /** For some columns; the name is the schema's. */
    RowSchema(String name, List<ArrowField> columns) {
        this.columns = List.copyOf(columns);
        this.schema = struct(name, columns, false);
    }

    Schema schema() {
        return schema;
    }

    /** A row as a record. */
    Struct of(Row row) {
        Struct struct = new Struct(schema);
        for (ArrowField column : columns) {
            struct.put(column.name(), value(column, schema.field(column.name()).schema(),
                    row.get(column.name())));
        }
        return struct;
    }

    private static Schema struct(String name, List<ArrowField> members, boolean mayLack) {
        SchemaBuilder builder = SchemaBuilder.struct();
        if (name != null) {
            builder.name(name);
        }
        members.forEach(member -> builder.field(member.name(), schema(member)));
        return mayLack ? builder.optional().build() : builder.build();
    }

    private static Schema schema(ArrowField column) {
        boolean mayLack = column.isNullable();
        SchemaBuilder builder;
        switch (column.type().kind()) {
            case BOOL:
                builder = SchemaBuilder.bool();
                break;
            case INT:
                builder = column.type().width() == 8 ? SchemaBuilder.int64()
                        : SchemaBuilder.int32();
                break;
            case FLOAT:
                builder = column.type().width() == 4 ? SchemaBuilder.float32()
                        : SchemaBuilder.float64();
                break;
            case BINARY:
                builder = SchemaBuilder.bytes();
                break;
            case FIXED_BINARY:
                builder = column.holdsUuids() ? SchemaBuilder.string() : SchemaBuilder.bytes();
                break;
            case DECIMAL:
                builder = Decimal.builder(column.type().scale());
                break;
            case DATE:
                builder = org.apache.kafka.connect.data.Date.builder();
                break;
            case TIMESTAMP:
                builder = countsMilliseconds(column) ? Timestamp.builder()
                        : SchemaBuilder.string();
                break;
            case LIST:
                builder = SchemaBuilder.array(schema(column.children().get(0)));
                break;
            case STRUCT:
                return struct(null, column.children(), mayLack);
            case MAP:
                builder = SchemaBuilder.map(Schema.STRING_SCHEMA,
                        schema(column.children().get(0).children().get(1)));
                break;
            default:
                builder = SchemaBuilder.string();
        }
        return mayLack ? builder.optional().build() : builder.build();
    }

    private static boolean countsMilliseconds(ArrowField column) {
        return column.type().digits() <= MILLISECOND_DIGITS;
    }

    private static Object value(ArrowField column, Schema schema, Object value) {
        if (value == null) {
            return null;
        }
        switch (column.type().kind()) {
            case BOOL:
            case FLOAT:
            case BINARY:
                return value;
            case INT:
                return column.type().width() == 8 ? (Object) ((Number) value).longValue()
                        : (Object) ((Number) value).intValue();
            case FIXED_BINARY:
                return column.holdsUuids() ? value.toString() : value;
            case DECIMAL:
                return ((BigDecimal) value).setScale(column.type().scale());
            case DATE:
                return new Date(((LocalDate) value).toEpochDay() * DAY_MS);
            case TIMESTAMP:
                return countsMilliseconds(column) ? Date.from(
                        ((LocalDateTime) value).toInstant(ZoneOffset.UTC)) : value.toString();
            case LIST:
                List<Object> items = new ArrayList<>();
                ArrowField item = column.children().get(0);
                ((List<?>) value).forEach(each ->
                        items.add(value(item, schema.valueSchema(), each)));
                return items;
            case STRUCT:
                Struct struct = new Struct(schema);
                for (ArrowField member : column.children()) {
                    Field field = schema.field(member.name());
                    struct.put(field, value(member, field.schema(),
                            ((Map<?, ?>) value).get(member.name())));
                }
                return struct;
            case MAP:
                Map<String, Object> entries = new LinkedHashMap<>();
                ArrowField entry = column.children().get(0).children().get(1);
                ((Map<?, ?>) value).forEach((key, each) -> entries.put(String.valueOf(key),
                        value(entry, schema.valueSchema(), each)));
                return entries;
            default:
                return value.toString();
        }
    }
}
