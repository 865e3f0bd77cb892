"""What every registered feature map must refuse, with a message that says what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from krein.exceptions import DomainError
from krein.kernels import Gaussian


class TestRows:
    @pytest.mark.parametrize("method", ["fit", "transform", "approximate_kernel"])
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (np.nan, "contains NaN"),
            (np.inf, "contains infinity"),
            ("1-d", "Expected 2D array"),
            ("3-d", "dim 3"),
            ("no rows", "0 sample"),
            ("no columns", r"0 feature|expecting 5 features"),
            ("complex", "Complex data not supported"),
        ],
    )
    def test_bad_rows(self, case: Any, method: str, bad: Any, message: str) -> None:
        X = case.rows()
        features = case.make().fit(X)
        if isinstance(bad, float):
            wrong = X.copy()
            wrong[3, 2] = bad
        else:
            shapes = {"1-d": X[0], "3-d": X[None], "no rows": X[:0], "no columns": X[:, :0], "complex": X + 1j}
            wrong = shapes[bad]
        with pytest.raises(ValueError, match=message):
            getattr(features, method)(wrong)

    def test_wrong_width(self, case: Any) -> None:
        features = case.make().fit(case.rows())
        wide = case.rows(dim=6)
        message = r"X has 6 features, but .* is expecting 5 features"
        for rows in [(wide,), (wide, case.rows()), (case.rows(), wide)]:
            with pytest.raises(ValueError, match=message):
                features.approximate_kernel(*rows)
        with pytest.raises(ValueError, match=message):
            features.transform(wide)

    def test_rows_off_the_sphere(self, case: Any) -> None:
        X = case.rows()
        if case.domain != "sphere":
            return
        features = case.make().fit(X)
        wrong = X.copy()
        wrong[7] *= 1.01
        for call in (case.make().fit, features.transform, features.approximate_kernel):
            with pytest.raises(DomainError, match=r"row 7 with norm 1\.01.*sklearn\.preprocessing\.normalize"):
                call(wrong)
            wrong_zero = X.copy()
            wrong_zero[[5, 11]] = 0
            with pytest.raises(DomainError, match=r"Zero rows .* rows 5, 11 \(2 in all\)"):
                call(wrong_zero)


class TestState:
    def test_not_fitted(self, case: Any) -> None:
        X = case.rows()
        for call in (
            lambda features: features.transform(X),
            lambda features: features.approximate_kernel(X),
            lambda features: features.to_arrays(),
            lambda features: features.get_feature_names_out(),
        ):
            with pytest.raises(NotFittedError):
                call(case.make())

    def test_constructor_checks_nothing_and_fit_everything(self, case: Any) -> None:
        features = case.make(n_components=-3, output="nothing")
        assert (features.n_components, features.output) == (-3, "nothing")
        with pytest.raises(ValueError, match="must be"):
            features.fit(case.rows())


class TestParameters:
    @pytest.mark.parametrize("wrong", [0, -1, 2.5, "10", None, True])
    def test_n_components_is_not_a_width(self, case: Any, wrong: Any) -> None:
        with pytest.raises(ValueError, match=rf"n_components must be an integer >= 1; got {wrong!r}"):
            case.make(n_components=wrong).fit(case.rows())

    @pytest.mark.parametrize("wrong", ["complex64", None, 1])
    def test_output(self, case: Any, wrong: Any) -> None:
        with pytest.raises(ValueError, match=rf"output must be one of \['complex', 'real'\]; got {wrong!r}"):
            case.make(output=wrong).fit(case.rows())

    @pytest.mark.parametrize(
        "wrong", ["rbf", None, Gaussian, 1.0, lambda z: z], ids=["str", "None", "class", "float", "callable"]
    )
    def test_kernel(self, case: Any, wrong: Any) -> None:
        with pytest.raises(TypeError, match=r"kernel must be a kernel of krein\.kernels; got"):
            case.make().set_params(kernel=wrong).fit(case.rows())

    def test_unknown_parameter(self, case: Any) -> None:
        with pytest.raises(TypeError, match="no_such_option"):
            case.make(no_such_option=1)
        with pytest.raises(ValueError, match="Invalid parameter 'no_such_option'"):
            case.make().set_params(no_such_option=1)
