package oracle.kv.table;

import oracle.kv.ParallelScanIterator;

/** An iteration over rows or keys. Close it when you stop before its end.
 *
 * @param <K> what it gives
 */
public interface TableIterator<K> extends ParallelScanIterator<K> {
}
