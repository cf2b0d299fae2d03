import { Compass } from "lucide-react";
import { Link } from "react-router";
import { useWorkspace } from "../api/client";
import { useTexts } from "../texts";
import { Empty } from "../ui/notices";

export function NotFound() {
  const texts = useTexts();
  return (
    <Empty icon={Compass} title={texts.common.notFound}>
      <Link to={`/${useWorkspace()}/documents`}>{texts.common.home}</Link>
    </Empty>
  );
}
