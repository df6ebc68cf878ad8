// The page of an advertiser: its name, its tokens, its postbacks, the check of a URL, and its offers.

import { useState } from "preact/hooks";
import { put, refresh, useCached } from "../../../shared/cache";
import type { Tagged } from "../../../shared/client";
import { Button, LinkButton } from "../../../shared/components/button";
import { FormDialog, TextField } from "../../../shared/components/form-dialog";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { Empty } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { named, useMerged } from "../../../shared/use-merged";
import { MAX_NAME } from "../../../shared/limits";
import type { KeptAdvertiser as Kept } from "../../../shared/generated/openapi";
import { getTagged, putTagged } from "../../api";
import { advertisers as text } from "../../messages/advertisers";
import { ADVERTISERS_PATH } from "../../router";
import { may } from "../../session";
import { CheckCard } from "./check";
import { ADVERTISER_NAMES_KEY, advertiserKey, advertisersKey } from "../cache-keys";
import { ItsOffers } from "./its-offers";
import { Postbacks } from "./postbacks";
import { Tokens } from "./tokens";
import { usePostbacks } from "./use-postbacks";

export function Advertiser({ advertiserId }: { advertiserId: string }) {
  const advertiser = useCached(advertiserKey(advertiserId), () =>
    getTagged("/advertisers/{advertiser_id}", { advertiser_id: advertiserId }),
  );
  const [isRenaming, setRenaming] = useState(false);
  const { data, reload } = advertiser;
  return (
    <>
      <Heading title={data?.name ?? text.advertiser} within={[text.title]} note={<code>{advertiserId}</code>}>
        <LinkButton href={ADVERTISERS_PATH}>{text.toList}</LinkButton>
        {data && may("manage") && <Button onClick={() => setRenaming(true)}>{text.rename}</Button>}
      </Heading>
      <Loaded of={advertiser} missing={<Empty title={text.notFound} />}>
        {(known) => <Parts advertiser={known} reload={reload} />}
      </Loaded>
      {data && isRenaming && <Rename advertiser={data} reload={reload} onClose={() => setRenaming(false)} />}
    </>
  );
}

function Parts({ advertiser, reload }: { advertiser: Kept; reload: () => Promise<unknown> }) {
  const { advertiser_id: id } = advertiser;
  const postbacks = usePostbacks(id);
  return (
    <>
      <Tokens advertiser={advertiser} uses={postbacks.uses} reload={reload} />
      <Postbacks list={postbacks} />
      <CheckCard />
      <ItsOffers advertiserId={id} />
    </>
  );
}

interface RenameProps {
  advertiser: Tagged<Kept>;
  reload: () => Promise<unknown>;
  onClose: () => void;
}

function Rename({ advertiser, reload, onClose }: RenameProps) {
  const { advertiser_id: id } = advertiser;
  const typed = useMerged(advertiser.name, named({ "": text.name }));
  const name = typed.values;
  return (
    <FormDialog
      title={text.rename}
      button={text.rename}
      onSubmit={async () => {
        const renamed = { name: name.trim() };
        put(
          advertiserKey(id),
          await putTagged("/advertisers/{advertiser_id}", { advertiser_id: id }, renamed, advertiser),
        );
        for (const key of [advertisersKey(), ADVERTISER_NAMES_KEY]) void refresh(key);
        say(text.renamed);
        onClose();
      }}
      onClose={onClose}
      reload={reload}
      clashes={typed.clashes}
    >
      <TextField label={text.name} hint={text.nameHint} longest={MAX_NAME} value={name} onChange={typed.set} />
    </FormDialog>
  );
}
