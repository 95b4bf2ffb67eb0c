#!/usr/bin/python3
"""The rules of tidy.py that read code by themselves."""

import unittest

import tidy


def lengths(source):
    return list(tidy.function_lengths(source))


class FunctionLengths(unittest.TestCase):
    def test_counts_from_the_header_to_the_closing_brace(self):
        self.assertEqual(lengths("int a;\nint f(int x,\n      int y) {\n    return x;\n}\n"), [(2, 4)])

    def test_methods_and_constructors(self):
        source = "class A {\n    A() : b_{1} {\n    }\n    int f() const {\n        return 1;\n    }\n};\n"
        self.assertEqual([length for _, length in lengths(source)], [2, 3])

    def test_templates_and_operators(self):
        source = "template <int N = 3>\nbool operator==(A a, A b) {\n    return true;\n}\n"
        self.assertEqual(len(lengths(source)), 1)

    def test_inner_blocks_and_lambdas_belong_to_their_function(self):
        source = "void f() {\n    if (a) {\n    }\n    auto g = [](int x) {\n    };\n}\n"
        self.assertEqual(lengths(source), [(1, 6)])

    def test_braces_in_text_and_comments_do_not_count(self):
        source = 'void f() {\n    g("{{{", \'{\');  // {\n    /* { */\n}\nvoid h() {\n}\n'
        self.assertEqual(lengths(source), [(1, 4), (5, 2)])

    def test_raw_strings(self):
        source = 'void f() {\n    g(R"x({ " )x");\n}\n'
        self.assertEqual(lengths(source), [(1, 3)])

    def test_tables_are_no_functions(self):
        self.assertEqual(lengths("const T k = {\n    f(1),\n};\nenum class E { a };\n"), [])


class Names(unittest.TestCase):
    def test_unfinished_marks(self):
        self.assertTrue(tidy.UNFINISHED.search("// TO" + "DO: later"))
        self.assertFalse(tidy.UNFINISHED.search("// today"))


if __name__ == "__main__":
    unittest.main()
