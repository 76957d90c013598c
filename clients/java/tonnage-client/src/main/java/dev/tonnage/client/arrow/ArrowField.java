package dev.tonnage.client.arrow;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A column: its name, its type, and the columns that it is made of. */
public final class ArrowField {
    private final String name;
    private final ArrowType type;
    private final boolean nullable;
    private final List<ArrowField> children;
    private final Map<String, String> metadata;

    /** A column with children and metadata. */
    public ArrowField(String name, ArrowType type, boolean nullable, List<ArrowField> children,
            Map<String, String> metadata) {
        this.name = Objects.requireNonNull(name, "name");
        this.type = Objects.requireNonNull(type, "type");
        this.nullable = nullable;
        this.children = List.copyOf(children);
        this.metadata = Map.copyOf(metadata);
        int wanted = wantedChildren(type.kind());
        if (wanted >= 0 && wanted != children.size()) {
            throw new ArrowException("column " + name + " of type " + type + " is made of "
                    + children.size() + " columns, not of " + wanted);
        }
        if (type.kind() == ArrowType.Kind.MAP) {
            ArrowField entries = children.get(0);
            if (entries.type.kind() != ArrowType.Kind.STRUCT || entries.children.size() != 2) {
                throw new ArrowException("column " + name + ": a map is made of keys and values");
            }
        }
    }

    private static int wantedChildren(ArrowType.Kind kind) {
        switch (kind) {
            case STRUCT:
                return -1;
            case LIST:
            case FIXED_LIST:
            case MAP:
                return 1;
            default:
                return 0;
        }
    }

    /** A plain column. */
    public static ArrowField of(String name, ArrowType type, boolean nullable) {
        return new ArrowField(name, type, nullable, Collections.emptyList(),
                Collections.emptyMap());
    }

    /** A column of lists. */
    public static ArrowField listOf(String name, ArrowField item, boolean nullable) {
        return new ArrowField(name, ArrowType.LIST, nullable, List.of(item),
                Collections.emptyMap());
    }

    /** The name. */
    public String name() {
        return name;
    }

    /** The type. */
    public ArrowType type() {
        return type;
    }

    /** Whether values may be NULL. */
    public boolean isNullable() {
        return nullable;
    }

    /** The columns that it is made of. */
    public List<ArrowField> children() {
        return children;
    }

    /** What else is told of the column. */
    public Map<String, String> metadata() {
        return metadata;
    }

    /** Whether its values are UUIDs. */
    public boolean holdsUuids() {
        return type.kind() == ArrowType.Kind.FIXED_BINARY && type.width() == 16
                && "arrow.uuid".equals(metadata.get("ARROW:extension:name"));
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof ArrowField)) {
            return false;
        }
        ArrowField that = (ArrowField) other;
        return name.equals(that.name) && type.equals(that.type) && nullable == that.nullable
                && children.equals(that.children) && metadata.equals(that.metadata);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, type, nullable, children);
    }

    @Override
    public String toString() {
        return name + " " + type + (children.isEmpty() ? "" : children.toString());
    }
}
