package oracle.kv;

import java.util.Iterator;

/** An iteration over what comes from the server. Close it when you stop before its end.
 *
 * @param <K> what it gives
 */
public interface ParallelScanIterator<K> extends Iterator<K> {
    /** Ends the iteration. */
    void close();
}
