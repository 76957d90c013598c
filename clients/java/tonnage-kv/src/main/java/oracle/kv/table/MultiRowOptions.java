package oracle.kv.table;

import java.util.List;

/** Which rows of a key are meant, and of which tables. */
public class MultiRowOptions {
    private FieldRange fieldRange;
    private List<Table> parents;
    private List<Table> children;

    /** A range, and tables whose rows come along; each may be null. */
    public MultiRowOptions(FieldRange fieldRange, List<Table> parents, List<Table> children) {
        this.fieldRange = fieldRange;
        this.parents = parents;
        this.children = children;
    }

    /** A range. */
    public MultiRowOptions(FieldRange fieldRange) {
        this(fieldRange, null, null);
    }

    /** The range; null without one. */
    public FieldRange getFieldRange() {
        return fieldRange;
    }

    /** Tables above; null without any. */
    public List<Table> getIncludedParentTables() {
        return parents;
    }

    /** Tables below; null without any. */
    public List<Table> getIncludedChildTables() {
        return children;
    }

    /** Sets the range. */
    public MultiRowOptions setFieldRange(FieldRange newFieldRange) {
        fieldRange = newFieldRange;
        return this;
    }

    /** Sets the tables above whose rows come along. */
    public MultiRowOptions setIncludedParentTables(List<Table> newParents) {
        parents = newParents;
        return this;
    }

    /** Sets the tables below whose rows come along. */
    public MultiRowOptions setIncludedChildTables(List<Table> newChildren) {
        children = newChildren;
        return this;
    }
}
