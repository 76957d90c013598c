package dev.tonnage.client.arrow;

import java.util.List;

/** Rows that were read, column by column. */
public final class ArrowBatch {
    private final ArrowSchema schema;
    private final int rows;
    private final List<ArrowColumn> columns;

    ArrowBatch(ArrowSchema schema, int rows, List<ArrowColumn> columns) {
        this.schema = schema;
        this.rows = rows;
        this.columns = List.copyOf(columns);
    }

    /** The columns. */
    public ArrowSchema schema() {
        return schema;
    }

    /** How many rows there are. */
    public int rows() {
        return rows;
    }

    /** A column by its number, from 0. */
    public ArrowColumn column(int index) {
        return columns.get(index);
    }

    /** A column by its name; null without it. */
    public ArrowColumn column(String name) {
        int index = schema.indexOf(name);
        return index < 0 ? null : columns.get(index);
    }
}
