package dev.tonnage.client.arrow;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/** The columns of a stream. */
public final class ArrowSchema {
    private final List<ArrowField> fields;
    private final Map<String, String> metadata;

    /** Columns with metadata. */
    public ArrowSchema(List<ArrowField> fields, Map<String, String> metadata) {
        this.fields = List.copyOf(fields);
        this.metadata = Map.copyOf(metadata);
    }

    /** These columns. */
    public static ArrowSchema of(ArrowField... fields) {
        return new ArrowSchema(List.of(fields), Collections.emptyMap());
    }

    /** The columns. */
    public List<ArrowField> fields() {
        return fields;
    }

    /** What else is told. */
    public Map<String, String> metadata() {
        return metadata;
    }

    /** The number of a column, whatever the case of its name; -1 without it. */
    public int indexOf(String name) {
        for (int index = 0; index < fields.size(); index++) {
            if (fields.get(index).name().equals(name)) {
                return index;
            }
        }
        for (int index = 0; index < fields.size(); index++) {
            if (fields.get(index).name().equalsIgnoreCase(name)) {
                return index;
            }
        }
        return -1;
    }

    /** The columns of these names, in this order. */
    public ArrowSchema select(List<String> names) {
        ArrowField[] selected = new ArrowField[names.size()];
        for (int place = 0; place < selected.length; place++) {
            int index = indexOf(names.get(place));
            if (index < 0) {
                throw new ArrowException("there is no column " + names.get(place));
            }
            selected[place] = fields.get(index);
        }
        return of(selected);
    }

    /** The same columns, all of which may be NULL. */
    public ArrowSchema asNullable() {
        ArrowField[] nullable = new ArrowField[fields.size()];
        for (int index = 0; index < nullable.length; index++) {
            ArrowField field = fields.get(index);
            nullable[index] = new ArrowField(field.name(), field.type(), true, field.children(),
                    field.metadata());
        }
        return of(nullable);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ArrowSchema && fields.equals(((ArrowSchema) other).fields);
    }

    @Override
    public int hashCode() {
        return fields.hashCode();
    }

    @Override
    public String toString() {
        return fields.toString();
    }
}
