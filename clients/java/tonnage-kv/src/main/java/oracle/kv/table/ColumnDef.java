package oracle.kv.table;

import dev.tonnage.client.arrow.ArrowException;
import dev.tonnage.client.arrow.ArrowField;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.UUID;

/** The type of a column, out of the one that it has on the wire. */
class ColumnDef implements FieldDef {
    private static final String EXTENSION = "ARROW:extension:name";

    /** The parts of a list or a map. */
    enum Nested {
        /** The items of a list. */
        ITEM,
        /** The values of a map. */
        VALUE
    }

    private final ArrowField field;

    ColumnDef(ArrowField field) {
        this.field = field;
    }

    private boolean isMarked(String extension) {
        return extension.equals(field.metadata().get(EXTENSION));
    }

    @Override
    public Type getType() {
        switch (field.type().kind()) {
            case BOOL:
                return Type.BOOLEAN;
            case INT:
                return field.type().width() == 8 ? Type.LONG : Type.INTEGER;
            case FLOAT:
                return field.type().width() == 8 ? Type.DOUBLE : Type.FLOAT;
            case BINARY:
                return Type.BINARY;
            case FIXED_BINARY:
                return isMarked("arrow.uuid") ? Type.STRING : Type.FIXED_BINARY;
            case DECIMAL:
                return Type.NUMBER;
            case TIMESTAMP:
                return Type.TIMESTAMP;
            case LIST:
            case FIXED_LIST:
                return Type.ARRAY;
            case MAP:
                return Type.MAP;
            case STRUCT:
                return Type.RECORD;
            case UTF8:
                return isMarked("arrow.json") ? Type.JSON
                        : isMarked("tonnage.enum") ? Type.ENUM : Type.STRING;
            default:
                return Type.STRING;
        }
    }

    @Override
    public String getDescription() {
        return null;
    }

    ColumnDef nested(Nested part) {
        ArrowField child = field.children().get(0);
        return new ColumnDef(part == Nested.ITEM ? child : child.children().get(1));
    }

    List<ArrowField> members() {
        return field.children();
    }

    /**
     * A value as the client takes it for the column.
     *
     * @throws IllegalArgumentException for one that does not fit
     */
    Object checked(String name, Object value) {
        Object fitting = value;
        try {
            if (value instanceof String) {
                fitting = parsed((String) value);
            }
            probe(fitting);
            return fitting;
        } catch (ArrowException | java.time.DateTimeException error) {
            throw new IllegalArgumentException("column " + name + ": " + error.getMessage(), error);
        }
    }

    /** Texts of types that are STRING here. */
    private Object parsed(String text) {
        switch (field.type().kind()) {
            case DATE:
                return LocalDate.parse(text);
            case TIME:
                return LocalTime.parse(text);
            case FIXED_BINARY:
                return isMarked("arrow.uuid") ? (Object) UUID.fromString(text) : text;
            default:
                return text;
        }
    }

    /** Parts of rows are checked when the row is stored; single values here, by their class. */
    private void probe(Object value) {
        if (value == null) {
            return;
        }
        boolean fits;
        switch (getType()) {
            case BOOLEAN:
                fits = value instanceof Boolean;
                break;
            case INTEGER:
            case LONG:
            case FLOAT:
            case DOUBLE:
            case NUMBER:
                fits = value instanceof Number;
                break;
            case BINARY:
            case FIXED_BINARY:
                fits = value instanceof byte[];
                break;
            case TIMESTAMP:
                fits = value instanceof java.time.LocalDateTime
                        || value instanceof java.time.Instant;
                break;
            case ARRAY:
                fits = value instanceof java.util.Collection;
                break;
            case MAP:
            case RECORD:
                fits = value instanceof java.util.Map;
                break;
            case STRING:
                fits = !(value instanceof Number) && !(value instanceof byte[])
                        && !(value instanceof Boolean);
                break;
            default:
                fits = value instanceof String;
        }
        if (!fits) {
            throw new ArrowException("it is a " + getType() + ", and "
                    + value.getClass().getSimpleName() + " does not fit it");
        }
    }
}
