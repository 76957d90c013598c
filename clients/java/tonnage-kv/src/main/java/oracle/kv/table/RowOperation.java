package oracle.kv.table;

import dev.tonnage.client.Condition;
import dev.tonnage.client.Write;
import oracle.kv.Version;

/** A write of a row. */
final class RowOperation implements TableOperation {
    private final Type type;
    private final Row row;
    private final Write write;
    private final boolean aborts;

    private RowOperation(Type type, Row row, Write write, ReturnRow.Choice before, boolean aborts) {
        if (before != null && before != ReturnRow.Choice.NONE) {
            throw new UnsupportedOperationException(
                    "operations do not return what was there before: read it before, "
                    + "or put it alone");
        }
        this.type = type;
        this.row = row;
        this.write = write;
        this.aborts = aborts;
    }

    Write write() {
        return write;
    }

    @Override
    public Row getRow() {
        return row instanceof PrimaryKey ? null : row;
    }

    @Override
    public PrimaryKey getPrimaryKey() {
        return row instanceof PrimaryKey ? (PrimaryKey) row : null;
    }

    @Override
    public Type getType() {
        return type;
    }

    @Override
    public boolean getAbortIfUnsuccessful() {
        return aborts;
    }

    /** What became of one. */
    static final class Result implements TableOperationResult {
        private final boolean isDone;
        private final Version version;

        Result(boolean isDone, Version version) {
            this.isDone = isDone;
            this.version = version;
        }

        @Override
        public boolean getSuccess() {
            return isDone;
        }

        @Override
        public Version getNewVersion() {
            return version;
        }
    }

    private static RowOperation put(Type type, Row row, Condition condition,
            ReturnRow.Choice before, boolean aborts) {
        RowCell cell = (RowCell) row;
        return new RowOperation(type, row,
                Write.put(cell.table().client(), cell.mapped(), condition), before, aborts);
    }

    private static RowOperation delete(Type type, PrimaryKey key, Condition condition,
            ReturnRow.Choice before, boolean aborts) {
        RowCell cell = (RowCell) key;
        return new RowOperation(type, key,
                Write.delete(cell.table().client(), cell.mapped(), condition), before, aborts);
    }

    /** Makes them. */
    static final class Factory implements TableOperationFactory {
        @Override
        public TableOperation createPut(Row row, ReturnRow.Choice prevReturn, boolean aborts) {
            return put(Type.PUT, row, Condition.ALWAYS, prevReturn, aborts);
        }

        @Override
        public TableOperation createPutIfAbsent(Row row, ReturnRow.Choice prevReturn,
                boolean aborts) {
            return put(Type.PUT_IF_ABSENT, row, Condition.IF_ABSENT, prevReturn, aborts);
        }

        @Override
        public TableOperation createPutIfPresent(Row row, ReturnRow.Choice prevReturn,
                boolean aborts) {
            return put(Type.PUT_IF_PRESENT, row, Condition.IF_PRESENT, prevReturn, aborts);
        }

        @Override
        public TableOperation createPutIfVersion(Row row, Version versionMatch,
                ReturnRow.Choice prevReturn, boolean aborts) {
            return put(Type.PUT_IF_VERSION, row, Condition.ifVersion(versionMatch.getVersion()),
                    prevReturn, aborts);
        }

        @Override
        public TableOperation createDelete(PrimaryKey key, ReturnRow.Choice prevReturn,
                boolean aborts) {
            return delete(Type.DELETE, key, Condition.IF_PRESENT, prevReturn, aborts);
        }

        @Override
        public TableOperation createDeleteIfVersion(PrimaryKey key, Version versionMatch,
                ReturnRow.Choice prevReturn, boolean aborts) {
            return delete(Type.DELETE_IF_VERSION, key,
                    Condition.ifVersion(versionMatch.getVersion()), prevReturn, aborts);
        }
    }
}
