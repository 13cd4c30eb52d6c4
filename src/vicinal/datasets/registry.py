"""What is known of each data set, without its rows.

One entry per set. Checksums are kept apart, in :mod:`vicinal.datasets.digests`.
"""

from dataclasses import dataclass
from string import ascii_uppercase

_CC_BY = "CC BY 4.0 (as stated by the UCI repository)"
_RESEARCH = "none stated; distributed freely for research"
_DIGITS = tuple("0123456789")
_LETTERS = tuple(ascii_uppercase)


@dataclass(frozen=True)
class DatasetSpec:
    """Shape, labels, origin and peculiarities of one data set.

    Class counts and names are in label order. Where ``n_train`` is given, the
    first ``n_train`` rows are the customary training rows. A set that
    scikit-learn embeds names its loader in ``embedded``; of the others, each
    has either an ``openml_id`` or the reason why it has none in ``no_openml``.
    """

    name: str
    title: str
    n_features: int
    class_counts: tuple[int, ...]
    class_names: tuple[str, ...]
    source: str
    license: str = _CC_BY
    dtype: str = "float64"
    n_train: int | None = None
    embedded: str | None = None
    openml_id: int | None = None
    no_openml: str = ""
    notes: str = ""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return sum(self.class_counts)


def _uci(title: str) -> str:
    return f'UCI Machine Learning Repository, "{title}"'


_SPECS = (
    DatasetSpec(
        name="usps",
        title="USPS handwritten digits, the zip code version, 16 x 16 pixels",
        n_features=256,
        class_counts=(1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821),
        class_names=_DIGITS,
        source='US Postal Service; zip.train, zip.test of "The Elements of Statistical Learning"',
        license=_RESEARCH,
        dtype="float32",
        n_train=7291,
        openml_id=41082,
        notes="Pixels run from -1 (paper) to 1 (ink). Not the digits of usps_roweis.",
    ),
    DatasetSpec(
        name="usps_roweis",
        title="USPS handwritten digits, the version of S. Roweis, 16 x 16 pixels",
        n_features=256,
        class_counts=(1100,) * 10,
        class_names=_DIGITS,
        source="US Postal Service (Hull 1994); usps_all.mat of Sam Roweis",
        license=_RESEARCH,
        dtype="uint8",
        no_openml="OpenML does not have this version",
        notes="Pixels run from 0 to 255; rows are ordered 1, 2, ..., 9, 0. Not the digits of usps.",
    ),
    DatasetSpec(
        name="mnist",
        title="MNIST handwritten digits, 28 x 28 pixels",
        n_features=784,
        class_counts=(6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
        class_names=_DIGITS,
        source="LeCun, Cortes and Burges, from NIST special databases 1 and 3",
        license="CC BY-SA 3.0 (as usually stated)",
        dtype="uint8",
        n_train=60000,
        openml_id=554,
        notes="Pixels run from 0 (paper) to 255 (ink).",
    ),
    DatasetSpec(
        name="balance-scale",
        title="Balance scale: which side is heavier",
        n_features=4,
        class_counts=(288, 49, 288),
        class_names=("L", "B", "R"),
        source=_uci("Balance Scale"),
        openml_id=11,
        notes="A full 5 x 5 x 5 x 5 grid; the label follows exactly from weight times distance.",
    ),
    DatasetSpec(
        name="bupa",
        title="BUPA liver disorders",
        n_features=6,
        class_counts=(145, 200),
        class_names=("selector 1", "selector 2"),
        source=_uci("Liver Disorders"),
        no_openml="OpenML's copy predicts the number of drinks, not the selector",
        notes="The customary label is, strictly, a marker of a train/test split.",
    ),
    DatasetSpec(
        name="ecoli",
        title="Localization of E. coli proteins",
        n_features=7,
        class_counts=(143, 77, 52, 35, 20, 5, 2, 2),
        class_names=("cp", "im", "pp", "imU", "om", "omL", "imL", "imS"),
        source=_uci("Ecoli"),
        openml_id=39,
        notes="Two classes have two members only; the fourth column is 0.5 in all rows but one.",
    ),
    DatasetSpec(
        name="glass",
        title="Glass identification",
        n_features=9,
        class_counts=(70, 76, 17, 13, 9, 29),
        class_names=(
            "building windows, float",
            "building windows, non-float",
            "vehicle windows, float",
            "containers",
            "tableware",
            "headlamps",
        ),
        source=_uci("Glass Identification"),
        openml_id=41,
        notes="Labels are the types 1, 2, 3, 5, 6, 7 of the source; it has no rows of type 4.",
    ),
    DatasetSpec(
        name="ionosphere",
        title="Radar returns from the ionosphere",
        n_features=34,
        class_counts=(126, 225),
        class_names=("bad", "good"),
        source=_uci("Ionosphere"),
        openml_id=59,
        notes="The second column is constant (0); drop it for the 33-feature version.",
    ),
    DatasetSpec(
        name="iris",
        title="Iris flowers",
        n_features=4,
        class_counts=(50, 50, 50),
        class_names=("setosa", "versicolor", "virginica"),
        source=f"R. A. Fisher 1936; {_uci('Iris')}",
        embedded="load_iris",
        notes="The 35th and 38th rows are as in Fisher's paper; the UCI file has errors there.",
    ),
    DatasetSpec(
        name="isolet",
        title="ISOLET spoken letters",
        n_features=617,
        class_counts=(300,) * 5 + (298,) + (300,) * 6 + (299,) + (300,) * 13,
        class_names=_LETTERS,
        source=f"R. Cole and M. Fanty; {_uci('ISOLET')}",
        dtype="float32",
        n_train=6238,
        openml_id=300,
        notes="Test rows are the speakers of isolet5. Training rows are not in speaker order.",
    ),
    DatasetSpec(
        name="landsat",
        title="Statlog Landsat satellite image, 3 x 3 neighborhoods in four bands",
        n_features=36,
        class_counts=(1533, 703, 1358, 626, 707, 1508),
        class_names=(
            "red soil",
            "cotton crop",
            "gray soil",
            "damp gray soil",
            "soil with vegetation stubble",
            "very damp gray soil",
        ),
        source=_uci("Statlog (Landsat Satellite)"),
        n_train=4435,
        no_openml="OpenML's satimage has 6430 rows, not 6435",
        notes="Labels are the classes 1, 2, 3, 4, 5, 7 of the source; it has no rows of class 6.",
    ),
    DatasetSpec(
        name="letter",
        title="Letter recognition: statistics of printed capitals",
        n_features=16,
        class_counts=(
            *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
            *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
        ),
        class_names=_LETTERS,
        source=_uci("Letter Recognition"),
        n_train=16000,
        openml_id=6,
        notes="Features are integers from 0 to 15.",
    ),
    DatasetSpec(
        name="lymphography",
        title="Lymphography",
        n_features=18,
        class_counts=(2, 81, 61, 4),
        class_names=("normal", "metastases", "malign lymph", "fibrosis"),
        source=f"M. Zwitter and M. Soklic, Ljubljana; {_uci('Lymphography')}",
        no_openml="OpenML names the categories instead of coding them as the source does",
        notes="Features are the integer codes of the source and mostly nominal.",
    ),
    DatasetSpec(
        name="magic",
        title="MAGIC gamma telescope: gamma showers against hadron background",
        n_features=10,
        class_counts=(12332, 6688),
        class_names=("gamma", "hadron"),
        source=_uci("MAGIC Gamma Telescope"),
        openml_id=1120,
        notes="115 rows are duplicates of others.",
    ),
    DatasetSpec(
        name="new-thyroid",
        title="Thyroid disease, the new-thyroid version",
        n_features=5,
        class_counts=(150, 35, 30),
        class_names=("normal", "hyper", "hypo"),
        source=_uci("Thyroid Disease"),
        openml_id=40682,
    ),
    DatasetSpec(
        name="pima",
        title="Diabetes among Pima Indian women",
        n_features=8,
        class_counts=(500, 268),
        class_names=("negative", "positive"),
        source="National Institute of Diabetes and Digestive and Kidney Diseases",
        license="CC0 (as usually stated)",
        openml_id=37,
        notes=(
            "Zeros stand for missing values in glucose (5 rows), blood pressure (35), "
            "skin thickness (227), insulin (374) and body mass index (11)."
        ),
    ),
    DatasetSpec(
        name="segment",
        title="Image segmentation: 3 x 3 regions of outdoor images",
        n_features=19,
        class_counts=(330,) * 7,
        class_names=("brickface", "sky", "foliage", "cement", "window", "path", "grass"),
        source=_uci("Image Segmentation"),
        n_train=210,
        no_openml="OpenML's copy is rounded to six digits",
        notes=(
            "The third column (pixel count) is constant (9); drop it for the 18-feature version. "
            "Most benchmarks split all 2310 rows at random."
        ),
    ),
    DatasetSpec(
        name="sonar",
        title="Sonar returns, mines against rocks",
        n_features=60,
        class_counts=(97, 111),
        class_names=("rock", "mine"),
        source=_uci("Connectionist Bench (Sonar)"),
        openml_id=40,
    ),
    DatasetSpec(
        name="spectf",
        title="SPECTF heart images",
        n_features=44,
        class_counts=(55, 212),
        class_names=("normal", "abnormal"),
        source=_uci("SPECTF Heart"),
        n_train=80,
        no_openml="OpenML's copy has 349 rows, the training rows among the test rows",
        notes="The training rows are balanced (40/40), the test rows are not (15/172).",
    ),
    DatasetSpec(
        name="transfusion",
        title="Blood transfusion service center: who donated again",
        n_features=4,
        class_counts=(570, 178),
        class_names=("not donated", "donated"),
        source=f"I-C. Yeh; {_uci('Blood Transfusion Service Center')}",
        openml_id=1464,
        notes="Monetary is 250 times frequency, so the four columns have rank 3.",
    ),
    DatasetSpec(
        name="wdbc",
        title="Breast cancer Wisconsin, diagnostic",
        n_features=30,
        class_counts=(212, 357),
        class_names=("malignant", "benign"),
        source=_uci("Breast Cancer Wisconsin (Diagnostic)"),
        embedded="load_breast_cancer",
    ),
    DatasetSpec(
        name="wine",
        title="Wines of three cultivars, chemical analysis",
        n_features=13,
        class_counts=(59, 71, 48),
        class_names=("cultivar 1", "cultivar 2", "cultivar 3"),
        source=_uci("Wine"),
        embedded="load_wine",
    ),
    DatasetSpec(
        name="yeast",
        title="Localization of yeast proteins",
        n_features=8,
        class_counts=(463, 429, 244, 163, 51, 44, 35, 30, 20, 5),
        class_names=("CYT", "NUC", "MIT", "ME3", "ME2", "ME1", "EXC", "VAC", "POX", "ERL"),
        source=_uci("Yeast"),
        openml_id=181,
    ),
)

REGISTRY: dict[str, DatasetSpec] = {spec.name: spec for spec in _SPECS}
