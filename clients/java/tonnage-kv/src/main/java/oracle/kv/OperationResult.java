package oracle.kv;

/** What became of an operation. */
public interface OperationResult {
    /** Whether it was carried out. */
    boolean getSuccess();

    /** The version of a put; null without one. */
    Version getNewVersion();

    /** The version that was there, where it was asked for; null without one. */
    Version getPreviousVersion();

    /** The value that was there, where it was asked for; null without one. */
    Value getPreviousValue();
}
