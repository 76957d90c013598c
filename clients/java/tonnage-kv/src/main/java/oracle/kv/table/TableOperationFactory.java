package oracle.kv.table;

import oracle.kv.Version;

/** Makes operations for an execute. */
public interface TableOperationFactory {
    /** Makes an operation. What was there before is not returned. */
    TableOperation createPut(Row row, ReturnRow.Choice prevReturn,
            boolean abortIfUnsuccessful);

    /** Makes an operation. What was there before is not returned. */
    TableOperation createPutIfAbsent(Row row, ReturnRow.Choice prevReturn,
            boolean abortIfUnsuccessful);

    /** Makes an operation. What was there before is not returned. */
    TableOperation createPutIfPresent(Row row, ReturnRow.Choice prevReturn,
            boolean abortIfUnsuccessful);

    /** Makes an operation. What was there before is not returned. */
    TableOperation createPutIfVersion(Row row, Version versionMatch, ReturnRow.Choice prevReturn,
            boolean abortIfUnsuccessful);

    /** Makes an operation. What was there before is not returned. */
    TableOperation createDelete(PrimaryKey key, ReturnRow.Choice prevReturn,
            boolean abortIfUnsuccessful);

    /** Makes an operation. What was there before is not returned. */
    TableOperation createDeleteIfVersion(PrimaryKey key, Version versionMatch,
            ReturnRow.Choice prevReturn, boolean abortIfUnsuccessful);
}
