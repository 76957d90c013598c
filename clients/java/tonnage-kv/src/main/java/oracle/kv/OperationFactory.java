package oracle.kv;

/** Makes operations for an execute. */
public interface OperationFactory {
    /** Makes an operation. */
    Operation createPut(Key key, Value value);

    /** Makes an operation that returns the pair before. */
    Operation createPut(Key key, Value value,
            ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful);

    /** Makes an operation. */
    Operation createPutIfAbsent(Key key, Value value);

    /** Makes an operation that returns the pair before. */
    Operation createPutIfAbsent(Key key, Value value,
            ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful);

    /** Makes an operation. */
    Operation createPutIfPresent(Key key, Value value);

    /** Makes an operation that returns the pair before. */
    Operation createPutIfPresent(Key key, Value value,
            ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful);

    /** Makes an operation. */
    Operation createPutIfVersion(Key key, Value value, Version version);

    /** Makes an operation that returns the pair before. */
    Operation createPutIfVersion(Key key, Value value, Version version,
            ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful);

    /** Makes an operation. */
    Operation createDelete(Key key);

    /** Makes an operation that returns the pair before. */
    Operation createDelete(Key key,
            ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful);

    /** Makes an operation. */
    Operation createDeleteIfVersion(Key key, Version version);

    /** Makes an operation that returns the pair before. */
    Operation createDeleteIfVersion(Key key, Version version,
            ReturnValueVersion.Choice prevReturn, boolean abortIfUnsuccessful);
}
