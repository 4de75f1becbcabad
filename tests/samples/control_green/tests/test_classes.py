import unittest


class TestLedger(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = [1, 2, 3]

    def setUp(self):
        self.total = sum(self.rows)

    def test_balance(self):
        self.assertEqual(self.total, 6)

    def test_rows(self):
        for row in self.rows:
            with self.subTest(row=row):
                self.assertGreater(row, 0)

    @unittest.skip("never here")
    def test_skipped(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail()


class TestPlain:
    value = 3

    def setup_method(self):
        self.items = [self.value]

    def test_setup_ran(self):
        assert self.items == [3]

    class TestInner:
        def setup_method(self):
            self.items = [4]

        def test_nested(self):
            assert self.items == [4]
