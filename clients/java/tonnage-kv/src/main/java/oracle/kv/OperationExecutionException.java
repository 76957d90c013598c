package oracle.kv;

/** An operation whose condition did not hold. Nothing was done. */
public class OperationExecutionException extends ContingencyException {
    private static final long serialVersionUID = 1L;

    private final transient Operation operation;
    private final int index;
    private final transient OperationResult result;

    /** An operation whose condition did not hold. */
    public OperationExecutionException(Operation failedOperation, int failedOperationIndex,
            OperationResult failedOperationResult) {
        super("the condition of operation " + failedOperationIndex + " did not hold");
        operation = failedOperation;
        index = failedOperationIndex;
        result = failedOperationResult;
    }

    /** The operation. */
    public Operation getFailedOperation() {
        return operation;
    }

    /** What became of it. */
    public OperationResult getFailedOperationResult() {
        return result;
    }

    /** Its number, from 0. */
    public int getFailedOperationIndex() {
        return index;
    }
}
