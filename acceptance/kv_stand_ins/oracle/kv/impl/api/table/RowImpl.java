package oracle.kv.impl.api.table;

import oracle.kv.table.Row;

/** What rows inside the store of the tests have: no row here is one. */
public interface RowImpl extends Row {
    void setModificationTime(long time);

    void setRegionId(int region);
}
