"""Checksums that tell whether a copy of a data set is the reference copy.

Three questions, three digests, all SHA-256:

- ``file``: is this ``.npz`` file the reference file, byte for byte?
- ``content``: does this copy hold the same rows, grouped into the same classes?
  The order of the rows and the names of the classes do not matter, so that it
  can be asked of a copy from elsewhere.
- ``order``: are, beyond that, the rows in the same order? A split given by row
  numbers means something only then.

``classes`` holds the first six digits of each class's own digest, in label
order. They recognize a class by its rows whatever its name, and so give a copy
from elsewhere the reference labels. Features enter as float32, because sources
print the same number with more or fewer trailing digits.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_TAG_LENGTH = 6
_ROWS_PER_CHUNK = 4096


class Digests(NamedTuple):
    """Reference digests of one data set."""

    file: str
    content: str
    order: str
    classes: str

    @property
    def class_tags(self) -> list[str]:
        """Short digests of the classes, in label order."""
        return self.classes.split()


def class_digests(X: NDArray, y: NDArray) -> list[str]:
    """Digest of each class's rows, in label order, whatever the order of the rows."""
    return [_unordered_digest(X[y == label]) for label in range(int(y.max(initial=-1)) + 1)]


def content_digest(classes: Sequence[str]) -> str:
    """Digest of all classes, whatever their order, from :func:`class_digests`."""
    return hashlib.sha256("".join(sorted(classes)).encode()).hexdigest()


def order_digest(X: NDArray, y: NDArray) -> str:
    """Digest of rows and labels as they stand."""
    digest = hashlib.sha256()
    for start in range(0, len(X), _ROWS_PER_CHUNK):  # a float32 copy of all of MNIST is 220 MB
        digest.update(_as_bytes(X[start : start + _ROWS_PER_CHUNK]))
    digest.update(np.ascontiguousarray(y, dtype="<i8").tobytes())
    return digest.hexdigest()


def class_tags(classes: Sequence[str]) -> list[str]:
    """Shorten :func:`class_digests` to what the reference table stores."""
    return [digest[:_TAG_LENGTH] for digest in classes]


def _unordered_digest(X: NDArray) -> str:
    block, width = _as_bytes(X), 4 * X.shape[1]
    rows = sorted(block[start : start + width] for start in range(0, len(block), width))
    return hashlib.sha256(b"".join(rows)).hexdigest()


def _as_bytes(X: NDArray) -> bytes:
    # Adding zero turns -0.0 into 0.0: equal numbers, but not equal bytes.
    floats = np.asarray(X, dtype=np.float32) + np.float32(0)
    return np.ascontiguousarray(floats, dtype="<f4").tobytes()


REFERENCE: dict[str, Digests] = {
    "usps": Digests(
        file="69732453c63e3508dc652345116c74bcdf1a512ead3fcf2d93d4f65e4f1e6243",
        content="9a39d816eb4746754e6e089cd3e1ca5dbf8d5ab281a0e3d06b753dd277fda937",
        order="b9b8b15c51ccfcd3788dfa4042dd0eabcb17ec8e1d3efdc9d8db6dada1ec9894",
        classes="9071ea 8723ef 8134ef 5ca859 55ae45 c431d4 792604 adb8c7 afeb8d cd82a5",
    ),
    "usps_roweis": Digests(
        file="5fd3fdc1c41617e245427ce02109209b2304057b5f30a3b873509a480e5af90b",
        content="315f22807486a38217d9c0bd11914e7a084d867bac6a1cbb2ea88fad70f6fa0f",
        order="a3b99d0ced7e8c09789e315e75a1ea2fa8fb8ccd677cde216ed39dcdf936adfc",
        classes="4b6f37 7df080 aedba9 a76325 824292 cb9729 1fc360 612375 de1c7d b5c0c5",
    ),
    "mnist": Digests(
        file="6fef392c902a62c3f62132db1db0490df27e2fbb5f21b241de72bd923eeb7e09",
        content="13898f75aeab3edf31b14e828de603474d426877131ef66e5ba1673791d4d3dd",
        order="9cee2c9d76cea3af0c17d7813f25973f9224cfb70d5cca83d171aca20048cdad",
        classes="7a8347 833908 ff7da9 46965d f757d8 750928 a01d2e 70ac43 397978 18ccde",
    ),
    "balance-scale": Digests(
        file="17de0e0415ea3ab623b93f9a705ba6e74a302ba54fdb53372c2aef8e851e9075",
        content="ce8e5b0c9f37c966b3ca14b300cd71765e87824b24f2b91426d4a2e5879cfc83",
        order="058e01d8607f8d7f9b1f7223f11b1616635db5cbe569066801f72a2c759d7611",
        classes="4c0ba2 f2bfa4 d69b56",
    ),
    "bupa": Digests(
        file="b58f42f0279368e560c9aa7d0263695608fa32f9311fce74922594cb9a8e100a",
        content="3df9055e12bbdecc1c86dfd90c539d13f273e42c602947010da05e28f479563f",
        order="6fb17717701b3d5112106b0ab48a8cb56198bdfe95b374fc4efb41f11d9ae3ce",
        classes="455e2a 3bf792",
    ),
    "ecoli": Digests(
        file="cd2c6f405c3512bd495b7b2027af6c26c63b2bed0087ec46eff1ee023b807083",
        content="6a389dc09a99cf99ba0d1c71d3e22718cb4465787558b74b9425d4c3fcce79b7",
        order="ea9a487fafce89ac855e8cb982e24ed9fe63eb2e7f7ebd865715f2a86cea872f",
        classes="fc2984 ba087d 56f6a9 5ec2e5 f9ab88 fac18e a2e981 58750a",
    ),
    "glass": Digests(
        file="6be10c64756657ded8f0d7aa893a3907478d837178875cda90ba2507380765a7",
        content="0813dcafc2d97664972dc27366b0ca5e7d715a6aff20618318492aebd4a45307",
        order="d2b69998a75a4158e9ed9946e5f58ed51181d74411ebedff553435ae221d8df6",
        classes="be7b5c b6d010 bda51f be7bdb cff5bd dd7203",
    ),
    "ionosphere": Digests(
        file="c40be8815c2af48bb703d961a2285e7e1f75b14ac216961fd3133f5e7bfe9d4b",
        content="cc1617e27789117eef874a890b961669c8ecc1fee470185b38ef0f5371b6770d",
        order="8e982feb493f35b462d119748cd62b20d66ead05b3f3676a48199ed7c135ebf4",
        classes="ec573c 51104c",
    ),
    "iris": Digests(
        file="3016a2717ce422e306e3ac88d15835f8633eef887d355096f2e07077d05b3814",
        content="bdec7255a87f8664dd50fbea47833ef56ec0c05a4fe7784fe270639f633fed87",
        order="879b81724528964779983358162a724401de00141f8cb9c922d27f908396b8c7",
        classes="e509d2 1eb5cb b114a1",
    ),
    "isolet": Digests(
        file="81eab009440dc3697450dae955c6e8df618ca10dafafcb1842811ce328c3e825",
        content="03b297b72f24bbc0e886310afbf9304af1ed56a2ebf16ce93376ec525242cd5b",
        order="17f1503581578478b57270dc47c67bf0f6e41461f09e20ec6073eaa2cea753c7",
        classes=(
            "1c6483 3874d9 5b8acb aa250b e4fffd 4edcdf 2bbf5f c1f613 0ea729 "
            "5bfee4 67889b fdfaff bb1152 8fc1e5 847903 b6e453 5fde3b 3dd6a8 "
            "284c3e 93720b 20c57b 3c7a00 829079 29146d 6c250e 7acd68"
        ),
    ),
    "landsat": Digests(
        file="ecaec883a297d1af1f071a48f0355963fa4557d070a612641713e4bfa3c51b09",
        content="2bd3c5c3259c2bb16d175b388dadad47fabed3a546d40f68f1bac4db3a9f8890",
        order="8bdd6a3eabfb3c7be46209b395f91f4a945624ef7a49815456b5b6eb328f74a4",
        classes="6c1293 b45916 dd0d6e 41e9e3 40c4f9 c43c18",
    ),
    "letter": Digests(
        file="f02e56951b4216f9b25d7c6fa41c3a733a8e3db15e58968d93958f704d58faca",
        content="e90942a37314e5e3849a65b8d4295b3af00b22446d6ed0b9d3f0dbc89a6a273c",
        order="2cb171821ebb07967c0a1f94225cfc1f35dcdcd73e9fd94d3a744cb9d716dc39",
        classes=(
            "d23545 4be5a8 7e6fbc b69934 6ae749 0cfc7e ee0dcb d8b685 fe9df5 "
            "3e7191 f1be9b ee941b 4ef17e 98fdea 878512 3b58e2 b6bdca 5b7ccd "
            "1c4b8f 8e5730 b340df dd4070 2f6fa1 0bc735 98d99b 435934"
        ),
    ),
    "lymphography": Digests(
        file="64e3ce2469dcdb3d648a006b64c88265a12b3f3f511a4c786a802dcb506fdcbf",
        content="96d9ac5f7d22dfe57373c6dcee3d812054fc2272b7416df71602dad4ddaa8466",
        order="718cb10b265c1e70c9798e00571e1f45e9162a986ff7c92e88953b04a9565cf5",
        classes="f3fde1 a61f4b a78336 c16307",
    ),
    "magic": Digests(
        file="e954274147a60b06d5d38e22302f4131ccb201e9b89ac63e2e97185b6e9becb4",
        content="45f11516e853b16f6068088c884c2f915a97aa9bc7cfa42953b581f4bff5da95",
        order="ed2bcde46b889405445a83b3aa0b08d72e74ac04fd7c0ded92c39410b3268b2f",
        classes="1793ff e2e978",
    ),
    "new-thyroid": Digests(
        file="4bdd5a39bee0ef1693451b24f8730dc4b824503f8f5427411f890031c6318126",
        content="a7d59e4672fa2b353b2a0f2e0c3ae6b4db7262f61395a5ed89fa952d8f2b73ea",
        order="e274db85a783c9ba22490637ae396fcadb2edb1ae9c7568556ed711333d9765e",
        classes="58e3ad d59e14 771a46",
    ),
    "pima": Digests(
        file="fc7e1f05a452c96a05f836441d36873bf228873fd88dd3e2fafb8771c45edb2d",
        content="37e85fcbe56df5cbf3733ad2b35873aed04d6230f8d01859393208e5278c3d17",
        order="b67340df24d0d5927c20ed1c638a0a8aaa3899fb84a79e2432c94d72b2db58af",
        classes="c46205 bef835",
    ),
    "segment": Digests(
        file="a18e25dcd317a6745db48077e1235b3bc24cf1fb552cf3215e8b62f3ce810c48",
        content="354a7cc682d303cfcf07079e77601c3f30815c417385494282608bb1b45d22f1",
        order="b1be8b40cda0d90d38c81f02916f2ecd06c8d4238c4c08dee01d8260fcc74671",
        classes="bf3b62 ce790e 2b067d ccc545 1a4a56 c51daa 12437b",
    ),
    "sonar": Digests(
        file="0734e664d17102f7bfe2e32eab3043683c8798cf374f5225ebc87bd6c7336a16",
        content="374428be2c951aae1789b82b09b9c2fa010c706eb8671d21bb5261779d7cca36",
        order="def2f5f403a255117dbe6c54ece31c0f8c4463c25ef7b51ac627cb89fc8d755f",
        classes="986ea9 e19713",
    ),
    "spectf": Digests(
        file="c8c949bb252421a8494deb275869195d153bd8e5bb91ec42a10f0f2325128250",
        content="43e2b2af16afe18fca2b8dc062df8be83e53d421259f56adf0bd6a4310289285",
        order="ffde2220c8f9dfbde7a9d5f04ee383848f7c64ca3e1820b664fedc040955b93b",
        classes="2c34f6 94e618",
    ),
    "transfusion": Digests(
        file="e4697f4619231827fb0df2d5bc83d22d931a1a4ecb064ed9170886012b22890d",
        content="4c1e7e37f6896c1bd09289527e82f5cec2a694f0164f7de11b52c42903f293e2",
        order="51c49493c0437c8f0f9afd6a9b4c4956642739691c008a60730e5153ed5ad4be",
        classes="f101af 984afa",
    ),
    "wdbc": Digests(
        file="2402285ebb2134863dfb40ffce13904d3f0bae1a81ba53c27339086f80b2490e",
        content="8024c86617e6a60da13b36e51541ebf0709f2c136de61fc71d13d73eaf4154c8",
        order="f86286b06e0eb4fbbb699d6ba5df7f1432e65642369ae111d0e47b47d02338bc",
        classes="d77cc6 5b3a70",
    ),
    "wine": Digests(
        file="adc597add63eb9e88a4fc555a9829d01577ac6f72815701a447bb20d8b6675a6",
        content="2de1e175cd5ceaf1881d7131d9fbf905d4d7676599d90e0df16dd7df745c8050",
        order="300d849b9eb766c3058bcebb4f806f42766e213cbcd8402c411d3d592747e011",
        classes="a79af1 b5b5f9 b05fa9",
    ),
    "yeast": Digests(
        file="cc0d1576fcf881776c404b99820e0edeef3a0f27c9af37065483343fd4372788",
        content="91cae1cc43df8eabe72ab6976404f32a6a95e2dbe5be6c9f4ce37e7df07bc6b6",
        order="2e0ced22214c0de5a065e88e00008c1c58c4adb2816d9e90e829872d05bcdf59",
        classes="e3944b 6163b1 80a287 54cf68 96eb32 560ce7 b0bafa 6a23ee 36727f 293595",
    ),
}
