package oracle.kv.table;

import oracle.kv.Version;

/** What became of an operation. What was there before is not told. */
public interface TableOperationResult {
    /** Whether it was carried out. */
    boolean getSuccess();

    /** The version of a put; null without one. */
    Version getNewVersion();
}
