package oracle.kv.table;

import oracle.kv.ContingencyException;

/** An operation whose condition did not hold. Nothing was done. */
public class TableOpExecutionException extends ContingencyException {
    private static final long serialVersionUID = 1L;

    private final transient TableOperation operation;
    private final int index;
    private final transient TableOperationResult result;

    TableOpExecutionException(TableOperation operation, int index, TableOperationResult result) {
        super("the condition of operation " + index + " did not hold", null);
        this.operation = operation;
        this.index = index;
        this.result = result;
    }

    /** The operation. */
    public TableOperation getFailedOperation() {
        return operation;
    }

    /** What became of it. */
    public TableOperationResult getFailedOperationResult() {
        return result;
    }

    /** Its number, from 0. */
    public int getFailedOperationIndex() {
        return index;
    }
}
