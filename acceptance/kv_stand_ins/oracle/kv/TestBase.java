package oracle.kv;

import org.junit.After;
import org.junit.Before;

/** What tests begin and end with. */
public class TestBase {
    /** Whether tables are copied between regions. */
    protected static boolean mrTableMode = false;

    @Before
    public void setUp() throws Exception {
    }

    @After
    public void tearDown() throws Exception {
    }
}
