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
                    "operations do not return what was there before: read it before, or put it alone");
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

    /** Makes them. */
    static final class Factory implements TableOperationFactory {
        private static dev.tonnage.client.Table of(Row row) {
            return ((RowCell) row).table().client();
        }

        @Override
        public TableOperation createPut(Row row, ReturnRow.Choice prevReturn,
                boolean abortIfUnsuccessful) {
            return new RowOperation(TableOperation.Type.PUT, row,
                    Write.put(of(row), ((RowCell) row).mapped(), Condition.ALWAYS), prevReturn, abortIfUnsuccessful);
        }

        @Override
        public TableOperation createPutIfAbsent(Row row, ReturnRow.Choice prevReturn,
                boolean abortIfUnsuccessful) {
            return new RowOperation(TableOperation.Type.PUT_IF_ABSENT, row,
                    Write.put(of(row), ((RowCell) row).mapped(), Condition.IF_ABSENT), prevReturn, abortIfUnsuccessful);
        }

        @Override
        public TableOperation createPutIfPresent(Row row, ReturnRow.Choice prevReturn,
                boolean abortIfUnsuccessful) {
            return new RowOperation(TableOperation.Type.PUT_IF_PRESENT, row,
                    Write.put(of(row), ((RowCell) row).mapped(), Condition.IF_PRESENT), prevReturn, abortIfUnsuccessful);
        }

        @Override
        public TableOperation createPutIfVersion(Row row, Version versionMatch, ReturnRow.Choice prevReturn,
                boolean abortIfUnsuccessful) {
            return new RowOperation(TableOperation.Type.PUT_IF_VERSION, row,
                    Write.put(of(row), ((RowCell) row).mapped(),
                            Condition.ifVersion(versionMatch.getVersion())), prevReturn, abortIfUnsuccessful);
        }

        @Override
        public TableOperation createDelete(PrimaryKey key, ReturnRow.Choice prevReturn,
                boolean abortIfUnsuccessful) {
            return new RowOperation(TableOperation.Type.DELETE, key,
                    Write.delete(of(key), ((RowCell) key).mapped(), Condition.IF_PRESENT), prevReturn, abortIfUnsuccessful);
        }

        @Override
        public TableOperation createDeleteIfVersion(PrimaryKey key, Version versionMatch, ReturnRow.Choice prevReturn,
                boolean abortIfUnsuccessful) {
            return new RowOperation(TableOperation.Type.DELETE_IF_VERSION, key,
                    Write.delete(of(key), ((RowCell) key).mapped(),
                            Condition.ifVersion(versionMatch.getVersion())), prevReturn, abortIfUnsuccessful);
        }
    }
}
